"""How the options of a command say that a broker is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from osbctl.errors import DocumentError, SourceError

if TYPE_CHECKING:
    from osbctl.sources.broker import Access, Answer
    from osbctl.sources.document import Document


def is_address(word: str) -> bool:
    """Whether a word names a broker by its address, and no file."""
    return word.startswith(("http://", "https://"))


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
        from osbctl.cli.fetch import make_access

        return make_access(
            user,
            password,
            self.password_stdin,
            self.api_version,
            self.ca_file,
            self.client_cert,
            self.insecure,
            self.timeout,
            self.max_bytes,
        )

    def document(self, url: str) -> Document:
        """The catalog of the broker at `url`; errors as `fetch`."""
        return read_answer(self.fetch(url), self.max_bytes)


def read_answer(answer: Answer, max_bytes: int) -> Document:
    """What a broker answered, as a document.

    Raises:
        SourceError: it cannot be read: no finding about a catalog, since there is none.
    """
    from osbctl.sources.limits import Limits
    from osbctl.sources.read import parse_document

    try:
        return parse_document(answer.body, answer.name, limits=Limits(bytes=max_bytes))
    except DocumentError as error:
        raise SourceError(error.message, "the broker's answer cannot be read as JSON") from None
