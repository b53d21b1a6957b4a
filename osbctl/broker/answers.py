"""The answers of the wire contract: a WSGI application for GET /v2/catalog.

The checks come in this order: transport, credentials, path, method, API version, conditions. Nobody
learns anything of the broker before the credentials are right.
"""
