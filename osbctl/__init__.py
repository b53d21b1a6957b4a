"""osbctl builds, validates, compares and serves Open Service Broker catalogs."""

__version__ = "1.0.0"
DISTRIBUTION, REPOSITORY = "osbctl", ""
"""Its name on the package index and its address, empty where there is none: written from pyproject.toml."""
