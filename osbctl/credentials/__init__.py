"""The credential record: made and checked in `record`, read and written in `file`.

A record holds an identity and the salted SHA-512 hash of its password, in the form of crypt(3). Several
records may share an identity: so a password is replaced without an outage.
"""
