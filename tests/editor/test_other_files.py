"""Files of JSON and YAML that have services, or a catalog, and none of Open Service Broker: the editor is silent in them."""

from pathlib import Path

import pytest

from osbctl.editor.open_files import find_source

OTHERS = {
    ".gitlab-ci.yml": "image: python\nservices:\n  - docker:dind\n  - name: postgres:16\n    alias: db\ntest:\n  script: make",
    "render.yaml": "services:\n  - type: web\n    name: api\n    plan: free\n    env: python\ndatabases:\n  - name: db\n    plan: free",
    ".do/app.yaml": "name: shop\nservices:\n  - name: web\n    description: The shop.\n    instance_size_slug: basic-xxs",
    "compose.yaml": "services:\n  web:\n    image: nginx\n    plans: none",
    "kong.yaml": "_format_version: '3.0'\nservices:\n  - name: a\n    id: 3f1b\n    url: http://x\n    tags: [a]\n    plugins: []",
    "consul/services.json": '{"services": [{"id": "web1", "name": "web", "port": 80, "tags": ["rails"], "meta": {"a": "b"}}]}',
    "catalog-info.yaml": "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: web\n  description: x\nspec:\n  type: service",
    "catalog-all.yaml": "kind: Location\nspec:\n  targets:\n    - ./services/a.yaml",
    "opslevel-catalog.yml": "version: 1\nservices:\n  - name: web\n    tier: tier_1\n    owner: team",
    "service-catalog.json": '{"services": [{"id": "web", "name": "web", "description": "The shop.", "owner": "team-a"}]}',
    "stac/catalog.json": '{"type": "Catalog", "id": "x", "stac_version": "1.0.0", "description": "", "links": []}',
    "catalog.json": '{"products": [{"id": 1, "name": "shirt"}]}',
    "plans.yaml": "plans:\n  - id: basic\n    name: Basic\n    price: 9\n    description: For one.",
    ".github/workflows/test.yml": "on: push\njobs:\n  t:\n    services:\n      db:\n        image: postgres\n    steps:\n      - run: make",
    "roles/tasks.yml": "- name: start\n  vars:\n    services: [a, b]\n    plans: []\n  service: {name: x}",
    "openapi.json": '{"openapi": "3.1.0", "paths": {"/services": {"get": {"description": "plans", "tags": ["services"]}}}}',
}
FIRST = next(iter(OTHERS))


@pytest.mark.parametrize("typing", ["", "\n  half: ["], ids=["whole", "while-typing"])
@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_something_else_is_left_alone(name: str, typing: str, tmp_path: Path) -> None:
    assert find_source(str(tmp_path / name), OTHERS[name] + typing) is None


@pytest.mark.parametrize("typing", ["", "\n  half: ["], ids=["whole", "while-typing"])
def test_a_catalog_is_known_by_what_it_says(typing: str, tmp_path: Path) -> None:
    """By any name: a service offering has plans and `bindable`."""
    path = str(tmp_path / "broker.yml")
    text = "services:\n  - name: a\n    bindable: true\n    plans:\n      - name: b"
    assert find_source(path, text + typing) == path
