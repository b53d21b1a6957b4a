"""The credential record: make, check, read, write.

A record holds an identity and the salted SHA-512 hash of its password, in the form of crypt(3). Several
records may share an identity: so a password is replaced without an outage.
"""

from osbctl.credentials.file import append_record, as_json, parse_credentials, read_credentials, write_record
from osbctl.credentials.record import (
    FEW_ROUNDS,
    MAXIMUM_ROUNDS,
    MINIMUM_ROUNDS,
    CredentialRecord,
    check_identity,
    check_password,
    default_rounds,
    fits,
    generate_password,
    make_record,
)

__all__ = [
    "FEW_ROUNDS",
    "MAXIMUM_ROUNDS",
    "MINIMUM_ROUNDS",
    "CredentialRecord",
    "append_record",
    "as_json",
    "check_identity",
    "check_password",
    "default_rounds",
    "fits",
    "generate_password",
    "make_record",
    "parse_credentials",
    "read_credentials",
    "write_record",
]
