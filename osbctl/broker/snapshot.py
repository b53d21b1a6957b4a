"""Immutable content of the broker. A reload makes a new one and swaps one reference."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ServedCatalog:
    """A catalog ready to be sent: both encodings of the body, and what HTTP says about them.

    The entity tags are strong and depend on the content alone, so that all processes and all restarts
    agree on them. `modified` is the end of the second in which this process took up the content, in
    seconds since 1970, `last_modified` the same as an HTTP date in GMT (RFC 9110 §5.6.7): a date of the
    file would say "not modified" of an older file put in the place of a newer one. `services` and
    `plans` are counts, for the log and the metrics.
    """

    body: bytes = field(repr=False)
    gzip_body: bytes = field(repr=False)
    etag: str
    gzip_etag: str
    modified: int
    last_modified: str
    services: int
    plans: int

    @classmethod
    def of(cls, body: bytes, taken: float, *, services: int = 0, plans: int = 0) -> ServedCatalog:
        """The snapshot of `body`, a JSON catalog in UTF-8, taken up `taken` seconds after 1970."""
        import gzip
        import hashlib
        from email.utils import formatdate

        modified = int(taken) + 1
        digest = hashlib.sha256(body).hexdigest()[:32]
        return cls(
            body=body,
            gzip_body=gzip.compress(body, compresslevel=9, mtime=0),
            etag=f'"{digest}"',
            gzip_etag=f'"{digest}-gzip"',
            modified=modified,
            last_modified=formatdate(modified, usegmt=True),
            services=services,
            plans=plans,
        )
