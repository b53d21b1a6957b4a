"""What the broker serves at one moment. A reload makes a new one and swaps one reference."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ServedCatalog:
    """A catalog ready to be sent: both encodings of the body, and what HTTP says about them.

    The entity tags are strong and depend on the content alone, so that all processes and all restarts
    agree on them. `last_modified` is an HTTP date in GMT (RFC 9110 §5.6.7), `modified` the same
    moment in whole seconds since 1970. `services` and `plans` are counts, for the log and the metrics.
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
    def of(cls, body: bytes, modified: float, *, services: int = 0, plans: int = 0) -> ServedCatalog:
        """The snapshot of `body`, a JSON catalog in UTF-8, last changed `modified` seconds after 1970."""
        import gzip
        import hashlib
        from email.utils import formatdate

        digest = hashlib.sha256(body).hexdigest()[:32]
        return cls(
            body=body,
            gzip_body=gzip.compress(body, compresslevel=9, mtime=0),
            etag=f'"{digest}"',
            gzip_etag=f'"{digest}-gzip"',
            modified=int(modified),
            last_modified=formatdate(int(modified), usegmt=True),
            services=services,
            plans=plans,
        )
