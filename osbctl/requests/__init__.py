"""Requests of developers: example parameters, their validation, and commands of platform tools."""
