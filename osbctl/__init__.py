"""osbctl builds, validates, compares and serves Open Service Broker catalogs."""

__version__ = "0.1.0"
