"""Kubernetes Service Catalog, which is archived."""
