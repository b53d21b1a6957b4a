"""Credential records: an identity and the salted SHA-512 hash of its password, in the form of crypt(3).

Several records may share an identity, so that a password can be replaced without downtime.
"""
