"""Content coding, conditional headers and API version of a request. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache

_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")

_WEIGHT = re.compile(r"[ \t]*q[ \t]*=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)[ \t]*")
"""The qvalue of RFC 9110 §12.4.2, `q=0` to `q=1` with up to three decimals."""

Version = tuple[int, int]
"""A version of the Open Service Broker API: major, minor."""


@lru_cache(maxsize=64)
def parse_version(text: str) -> Version | None:
    """Parse an X-Broker-API-Version header, `MAJOR.MINOR` without leading zeros; None if malformed."""
    match = _VERSION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


@lru_cache(maxsize=64)
def prefers_gzip(accept_encoding: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip at least as much as no coding (RFC 9110 §12.5.3).

    Invalid items are skipped: gzip is never sent unrequested.
    """
    weights = dict(_weights(accept_encoding))
    anything = weights.get("*", 0.0)
    gzip = weights.get("gzip", weights.get("x-gzip", anything))
    # Unless listed, identity is acceptable but not preferred.
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _weights(accept_encoding: str) -> Iterator[tuple[str, float]]:
    for item in accept_encoding.lower().split(","):
        coding, _, parameter = item.partition(";")
        weight = _WEIGHT.fullmatch(parameter or "q=1")
        if weight:
            yield coding.strip(" \t"), float(weight[1])


def etag_matches(header: str, etag: str) -> bool:
    """Return whether an If-None-Match header names `etag`, or is `*`. `etag` is strong and holds no comma.

    Weak comparison ignores the `W/` of a tag (RFC 9110 §8.8.3.2).
    """
    tags = (tag.strip(" \t").removeprefix("W/") for tag in header.split(","))
    return header.strip(" \t") == "*" or etag in tags


_DATES = ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y")


def parse_http_date(text: str) -> int | None:
    """Parse an HTTP date (three forms, RFC 9110 §5.6.7) to seconds since 1970; None if malformed."""
    for form in _DATES:
        with suppress(ValueError):
            return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp())
    return None
