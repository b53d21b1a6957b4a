"""With a platform chosen, findings, reports and exit codes tell of no other: no warning, no verdict, no word."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from osbctl.reports import Format
from osbctl.reports.changes import DiffFormat
from osbctl.rule import RULES
from osbctl.sources.parse import parse_catalog
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from osbctl.validation.rules import load_all
from tests.case import case
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import osbctl
from tests.comparison.test_table import CASES
from tests.fragments import catalog, changed
from tests.test_examples import MADE, examples

NAMES = {
    Platform.CLOUD_FOUNDRY: ("Cloud Foundry", "Cloud Controller", "cloudfoundry"),
    Platform.KUBERNETES: ("Service Catalog", "Kubernetes", "kubernetes"),
    Platform.SERVICE_MANAGER: ("Service Manager", "service-manager"),
    Platform.KORIFI: ("Korifi", "korifi"),
}
