"""Korifi: Cloud Foundry's API on Kubernetes."""
