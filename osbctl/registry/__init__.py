"""Registered brokers and their stored catalogs, without passwords; `store.Registry` is the interface."""
