"""What the reader refuses or points out in the text of a source."""

from __future__ import annotations

from functools import partial

from osbctl.findings import Severity
from osbctl.rule import Category, describe

_error = partial(describe, severity=Severity.ERROR, category=Category.READING)

_error(
    "cannot-open",
    """A source cannot be opened.

    The file is missing or may not be read, or the revision is not in this clone. The run ends with exit code 3.
    """,
    source="the operating system, git",
)
_error(
    "syntax",
    """The text is not valid JSON or YAML.

    Bad::

        services: [

    Good::

        services: []
    """,
    source="RFC 8259; YAML 1.2",
)
_error(
    "empty-document",
    """The document is empty.

    A catalog is an object with `services`.
    """,
    source="OSB 2.14, Catalog Management: the answer is a JSON object",
)
_error(
    "encoding",
    """The text is not UTF-8.

    JSON between systems is UTF-8 (a byte order mark at its beginning is passed over). Save the file as UTF-8.
    """,
    source="RFC 8259, section 8.1",
)
_error(
    "lone-surrogate",
    """Half of a surrogate pair stands alone.

    An escape such as `\\ud800` by itself is no character; platforms refuse the whole answer.

    Bad::

        {"name": "\\ud83d"}

    Good::

        {"name": "\\ud83d\\udc18"}
    """,
    source="RFC 8259, section 8.2",
)
_error(
    "duplicate-key",
    """A key appears twice in one object.

    Most readers take the last one in silence, some the first.

    Bad::

        {name: small, name: large}

    Good::

        {name: small}
    """,
    source="RFC 8259, section 4: names SHOULD be unique; YAML 1.2, section 3.2.1.3: keys must be",
)
_error(
    "key-not-string",
    """A key of a mapping is not a string.

    YAML reads `1:` as a number and `true:` as a boolean; JSON has string keys only.

    Bad::

        1: small

    Good::

        "1": small
    """,
    source="RFC 8259, section 4",
)
_error(
    "number-out-of-range",
    """A number is infinite, not a number, or too long.

    Bad::

        amount: {usd: .inf}

    Good::

        amount: {usd: 99.0}
    """,
    source="RFC 8259, section 6",
)
_error(
    "nesting-too-deep",
    """The document is nested deeper than 100 levels, or than `--max-depth`.

    Real catalogs have under 15 levels. Each reader runs out of stack somewhere; what platforms make of such a text is
    not foretold.
    """,
    source="RFC 8259, section 9: an implementation may limit the depth",
)
_error(
    "too-large",
    """The source is larger than the limit.

    `--max-bytes` raises it.
    """,
    source="osbctl's own limit",
)
_error(
    "too-many-nodes",
    """The document has too many values once its aliases are expanded.

    A few hundred bytes of aliases on aliases can stand for billions of values. `--max-nodes` raises the limit.
    """,
    source="osbctl's own limit",
)
_error(
    "recursive-alias",
    """An alias refers to itself.

    JSON has no value that holds itself.

    Bad::

        &a
        - *a

    Good::

        - a
    """,
    source="RFC 8259, section 3",
)
_error(
    "several-documents",
    """A second document follows the first.

    A catalog is one. Remove the `---`, or split the file.
    """,
    source="RFC 8259, section 2; YAML 1.2, section 9.2",
)
_error(
    "not-an-object",
    """The document is not an object.

    A catalog is an object with `services`, not a list of them.

    Bad::

        - name: postgres

    Good::

        services:
          - name: postgres
    """,
    source="OSB 2.14, Catalog Management: the answer is a JSON object",
)
_error(
    "unknown-tag",
    """A YAML tag asks for a type that JSON does not have.

    Bad::

        description: !!binary aGVsbG8=

    Good::

        description: hello
    """,
    source="YAML 1.2, section 10.3: core schema",
)
_error(
    "pointer-not-found",
    """The pointer of `--at` leads nowhere in the document.""",
    source="RFC 6901",
)
_error(
    "catalog-elsewhere",
    """The document has no `services` at its top, but there is a catalog deeper in it.

    `--at POINTER` reads the catalog there.

    Bad::

        catalog: {services: []}

    Good::

        services: []
    """,
    source="OSB 2.14, Catalog Management: the answer has `services`",
)
describe(
    "yaml-1.1",
    """YAML 1.1 readers see another value here.

    osbctl reads YAML 1.2, where `no` is a string; readers in many other languages still see a boolean, `012` as
    ten, and `2001-01-01` as a date.

    Bad::

        free: no

    Good::

        free: false
    """,
    severity=Severity.WARNING,
    category=Category.READING,
    source="YAML 1.2, section 10.3, against YAML 1.1's type repository",
    fix="puts what is text here in quotes.",
)
describe(
    "format-mismatch",
    """The file's ending names one format, and its content is in another.

    osbctl goes by the content; other tools may not.
    """,
    severity=Severity.INFO,
    category=Category.READING,
    source="the names of files",
)


describe(
    "ignore-unused",
    """A comment `# osbctl: ignore[rule]` silences nothing.

    What it was written for is mended, or it stands in another line than the finding: it belongs behind what the finding
    is about, or on a line of its own above it. A comment is not called unused where its rule was not looked for: it
    depends on `--platform`, `--schema`, `--select` or `--together`.

    Bad::

        name: postgres  # osbctl: ignore[name-characters] published in 2019

    Good::

        name: postgres
    """,
    severity=Severity.WARNING,
    category=Category.READING,
    source="osbctl: an ignore that nothing needs would hide the next finding",
)
