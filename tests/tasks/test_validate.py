"""Validation without a terminal: what an editor's server and other programs call."""

from __future__ import annotations

from pathlib import Path

import pytest

from osbctl.config import Config
from osbctl.reports import FailOn
from osbctl.resources import catalogs_folder
from osbctl.tasks.validate import Request, validate

FAULTY = str(catalogs_folder() / "faulty.yaml")


def test_validation_returns_what_a_report_needs_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    gone = str(tmp_path / "gone.yaml")
    done = validate(Request((FAULTY, gone)), Config())
    assert [judgement.name for judgement in done.judgements] == [FAULTY, gone]
    assert (done.fail_on, done.exit_code, done.notes) == (FailOn.ERROR, 3, ())
    assert capfd.readouterr() == ("", "")


def test_a_configuration_that_silences_nothing_is_a_note() -> None:
    done = validate(Request((FAULTY,)), Config("osbctl.toml", ignore=("cloudfoundry-tags",), fail_on="never"))
    assert done.notes == ("osbctl.toml: ignore of cloudfoundry-tags matched nothing: remove it",)
    assert done.fail_on is FailOn.NEVER
