"""Real catalogs and recorded probes: all are read, and read as the standard library does."""

import base64
import json

from osbctl.findings import DocumentError
from osbctl.sources.document import parse_document
from osbctl.sources.read import read_source
from tests.corpus import TOO_DEEP, catalogs, needs_corpus, records
from tests.fragments import places

UNREADABLE_PROBES = 24
"""As many probes are no JSON object by RFC 8259, or hold a key twice, says the corpus's README."""

READ_ALL_THE_SAME = {"007-doc-bom"}
"""One of the 24 begins with a byte order mark, which RFC 8259 (8.1) lets a reader pass over, and which files have."""


@needs_corpus
def test_every_real_catalog_is_read_and_every_entry_stands_at_its_key() -> None:
    """No reader is asked where it is: the text at the place must be the key itself."""
    for file in catalogs():
        document = read_source(str(file))
        assert document.data, file.name
        if file.suffix == ".json":
            assert document.data == json.loads(file.read_text(encoding="utf-8-sig")), file.name
        every = [path for path in places(document.data)[1:] if isinstance(path[-1], str)]
        for path, place in document.locate(every).items():
            key, there = str(path[-1]), place.excerpt[place.column - 1 :]
            written = (key, json.dumps(key), json.dumps(key, ensure_ascii=False), f"'{key}'")
            assert there.startswith(written), (file.name, path)


@needs_corpus
def test_probes() -> None:
    refused = set()
    for probe in records("cloudfoundry-probes"):
        case, encoded = probe["case"], probe.get("base64")
        data = base64.b64decode(encoded) if encoded is not None else probe["text"].encode("utf-8", "surrogatepass")
        try:
            document = parse_document(data, "probe.json")
        except DocumentError as error:
            assert all(finding.location for finding in error.findings)
            refused.add(case)
        else:
            assert (case, document.syntax) == (case, "json")
            assert document.data == json.loads(data.decode("utf-8-sig"))
    assert all("-doc-" in case for case in refused)
    assert refused >= TOO_DEEP
    assert len((refused - TOO_DEEP) | READ_ALL_THE_SAME) == UNREADABLE_PROBES
    assert READ_ALL_THE_SAME.isdisjoint(refused)
