"""How the options of a command say that a broker is reached."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from osbctl.cli.output import note
from osbctl.errors import UsageError

if TYPE_CHECKING:
    from osbctl.sources.access import Access
    from osbctl.sources.broker import Answer
    from osbctl.sources.document import Document


def is_address(word: str) -> bool:
    """Whether a word names a broker by its address, and no file."""
    return word.lower().startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class Connection:
    """The options under which one broker is asked; the password comes from the address, the environment or a prompt."""

    user: str | None
    password_stdin: bool
    api_version: str
    ca_file: str | None
    client_cert: str | None
    insecure: bool
    timeout: float
    max_bytes: int

    def fetch(self, url: str) -> Answer:
        """The answer of the broker at `url`.

        Raises:
            UsageError: it is no address.
            SourceError: there is no answer to be had, or none that is a catalog.
        """
        from osbctl.sources.broker import fetch, split_url

        address, named, password = split_url(url)
        answer = fetch(address, self.access(self.user or named, password))
        assert answer  # 304 comes only where a tag was sent
        return answer

    def access(self, user: str, password: str) -> Access:
        """The access for `user`, with `password` or the one that is found elsewhere."""
        from osbctl.sources.access import Access

        if self.insecure:
            note("INSECURE: the broker's certificate is not checked; anybody in between can read the password")
        return Access(
            user=user,
            password=password or self._password(user),
            api_version=self.api_version,
            ca_file=self.ca_file,
            client_cert=self.client_cert,
            insecure=self.insecure,
            total_seconds=self.timeout,
            max_bytes=self.max_bytes,
            proxies=environment_proxies(),
        )

    def _password(self, user: str) -> str:
        from osbctl.cli.passwords import ask_password

        if self.password_stdin:
            return _from_stdin()
        if "OSBCTL_PASSWORD" in os.environ:
            return os.environ["OSBCTL_PASSWORD"]
        if not user:
            return ""
        if not sys.stdin.isatty():
            raise UsageError(f"there is no password for {user}", "set OSBCTL_PASSWORD, or use --password-stdin")
        return ask_password(f"Password of {user}: ")

    def document(self, url: str) -> Document:
        """The catalog of the broker at `url`; errors as `fetch`."""
        from osbctl.sources.broker import as_document

        return as_document(self.fetch(url), self.max_bytes)


def environment_proxies() -> dict[str, str]:
    """The proxies that the environment names: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in either case."""
    from urllib.request import getproxies_environment

    return dict(getproxies_environment())


@cache
def _from_stdin() -> str:
    """Standard input comes once, and may be for two brokers."""
    from osbctl.cli.passwords import read_password

    return read_password()
