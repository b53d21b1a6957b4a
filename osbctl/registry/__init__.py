"""The platform's side: the database of registered brokers and their stored catalogs.

`store.Registry` is its interface. The database never holds a password.
"""
