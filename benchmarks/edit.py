"""`osbctl lsp`, from a key to the findings of the text, against `validate` of the same text in one process.

    python benchmarks/edit.py [--rounds N]

An editor's client (pygls) types into a catalog of some 200 kB with more than 350 findings, in JSON and YAML, and waits
for the findings of each state; `validate` is that of a process that has it all loaded, and saw nothing of the text
before. Prints a Markdown table: milliseconds of this machine, waited and (in brackets) spent by the server or by
`validate`, and the ratio of what was waited, which is comparable across machines. The rounds are interleaved; medians
count.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from osbctl.sources.document import parse_document
from osbctl.sources.yaml_text import dump
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

sys.path.insert(0, str(Path(__file__).parent))
from validate import catalog


def faulty(services: int) -> dict[str, Any]:
    """A catalog in which every service offering has a wrong type, and every plan an unexpected word."""
    whole = catalog(services, 3)
    for service in whole["services"]:
        service["bindable"] = "yes"
        for plan in service["plans"]:
            plan["metadata"] = {"bullets": "one"}
        for plan in service["plans"][1:]:
            del plan["schemas"]
    return whole


async def main(rounds: int) -> None:
    print("| text | size | findings | key to findings | `validate` in-process | ratio |\n|---|---|---|---|---|---|")
    for suffix, text in ((".json", json.dumps(faulty(90), indent=2)), (".yaml", dump(faulty(130)))):
        with tempfile.TemporaryDirectory() as folder:
            await measure(Path(folder).resolve() / f"catalog{suffix}", text, rounds)


async def measure(file: Path, text: str, rounds: int) -> None:
    client, heard = LanguageClient("benchmark", "1"), asyncio.Queue[Any]()
    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: heard.put_nowait(params))
    await client.start_io(sys.executable, "-m", "osbctl", "lsp")
    await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(file.as_uri(), "yaml", 0, text))
    )
    findings = len((await heard.get()).diagnostics)
    typed, validated, server, spent = [], [], cpu(client), 0.0
    for number in range(1, rounds + 1):
        new = text.replace("service-7", f"service-seven-{number}")
        begun = time.perf_counter()
        whole = types.TextDocumentContentChangeWholeDocument(new)
        which = types.VersionedTextDocumentIdentifier(uri=file.as_uri(), version=number)
        client.text_document_did_change(types.DidChangeTextDocumentParams(which, [whole]))
        while (await heard.get()).version != number:
            pass
        typed.append(time.perf_counter() - begun)
        begun, spent = time.perf_counter(), spent - time.process_time()
        validate_document(parse_document(new.encode(), file.name), ValidationOptions())
        spent += time.process_time()
        validated.append(time.perf_counter() - begun)
    server = cpu(client) - server
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
    key, validate = (statistics.median(times) * 1000 for times in (typed, validated))
    print(f"| {file.suffix[1:]} | {len(text) // 1000} kB | {findings} ", end="")
    server, spent = (seconds / rounds * 1000 for seconds in (server, spent))
    print(f"| {key:.0f} ms ({server:.0f}) | {validate:.0f} ms ({spent:.0f}) | {key / validate:.2f} |")


def cpu(client: LanguageClient) -> float:
    """Seconds that the server has computed so far (Linux)."""
    assert client._server
    fields = Path(f"/proc/{client._server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=21)
    asyncio.run(main(parser.parse_args().rounds))
