"""The broker: catalog bytes and credentials become the HTTPS service of `GET /v2/catalog`."""
