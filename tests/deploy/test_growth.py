"""Several processes, several machines: nothing of an answer depends on which one gave it."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from tests.deploy.harness import CATALOG
from tests.deploy.running import OSBCTL, ask, started

if TYPE_CHECKING:
    import ssl


def test_two_processes_give_one_catalog_the_same_tags(
    tmp_path: Path, credentials: Path, pair: tuple[Path, Path], trust: ssl.SSLContext
) -> None:
    """From JSON and from YAML, written at different times: a balancer may ask either."""
    data = read_source(str(CATALOG)).data
    texts = {"catalog.json": json.dumps(data, indent=4), "catalog.yaml": dump(data)}
    answers = []
    with ExitStack() as stack:
        for number, (name, text) in enumerate(texts.items()):
            folder = tmp_path / name.replace(".", "-")
            folder.mkdir()
            (folder / name).write_text(text)
            os.utime(folder / name, (1_700_000_000 + number, 1_700_000_000 + number))
            options = ["--credentials", str(credentials), "--tls-cert", str(pair[0]), "--tls-key", str(pair[1])]
            # no fork: each has its own hash seed
            command = [*OSBCTL, "serve", str(folder / name), *options, "--port", "0"]
            program = stack.enter_context(started(command, folder, "credentials: "))
            port = program.port()
            answers.append([ask(port, trust, Accept_Encoding=coding) for coding in ("identity", "gzip")])
            assert [ask(port, trust, Accept_Encoding=coding, If_None_Match=answer[1]["etag"])[0]
                    for coding, answer in zip(("identity", "gzip"), answers[0], strict=True)] == [304, 304]  # fmt: skip
    assert [(tag["etag"], body) for _, tag, body in answers[0]] == [(tag["etag"], body) for _, tag, body in answers[1]]
