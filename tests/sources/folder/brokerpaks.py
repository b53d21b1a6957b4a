"""A brokerpak of our own, and how it is run."""

from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\nnot much of a picture"

MANIFEST = """\
packversion: 1
name: shop
version: 0.1.0
platforms: [{os: linux, arch: amd64}]
terraform_binaries:
- {name: terraform-provider-aws, version: 6.49.0}
- {name: tofu, version: 1.10.9}
- name: tofu
  version: 1.11.8
  default: true
service_definitions:
- definitions/database.yml
- redis.yml
"""
DATABASE = """\
version: 1
name: acme-database.v1
id: b247fcde-8a63-11ea-b945-cb26f061f70f
description: A database.
display_name: Acme Database
image_url: file://images/logo.png
documentation_url: https://acme.example/docs
provider_display_name: Acme
support_url: https://acme.example/support
tags: [sql, beta]
plan_updateable: true
plans:
- name: small
  id: 5b45de36-cb90-11ec-a755-77f8be95a49d
  description: Small.
  display_name: Small one
  bullets: [1 GB]
  free: true
  properties: {cores: 1}
provision:
  plan_inputs:
  - {field_name: cores, type: integer, required: true, details: Cores.}
  user_inputs:
  - field_name: db_name.id
    required: true
    type: string
    details: The name.
    default: db-${request.instance_id}
    prohibit_update: true
    tf_attribute: aws_db.main.name
    constraints: {maxLength: 64, title: A title of its own}
  - field_name: jdbc-url
    nullable: true
    type: string
    details: The size.
    default: l
    enum: {m: Medium, L: Large}
bind:
  user_inputs:
  - {field_name: role, type: string, details: The role., default: "  ", enum: {admin: Admin}}
"""
REDIS = """\
version: 1
name: acme-cache
id: c7f64994-a1d9-4e1f-9491-9d8e56bbf146
description: A cache.
display_name: Acme Cache
image_url: https://acme.example/cache.png
documentation_url: https://acme.example/docs
support_url: https://acme.example/support
"""
ENVRC = """\
# what the broker is started with
export PAK_BUILD_CACHE_PATH=$(mktemp)
export GSB_COMPATIBILITY_ENABLE_BETA_SERVICES=true
export GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS="true"
export GSB_COMPATIBILITY_ENABLE_CF_SHARING=1
TERRAFORM_UPGRADES_ENABLED=t
export GSB_SERVICE_ACME_CACHE_PLANS='[{"name":"tiny","id":"7400cd8f-5f98-4457-8de0-03232ec12f62","node":"t3"},
  {"name":"big","guid":"d20c5cf2-29e1-11ed-93da-1f3a67a06903","free":false,"metadata":{"costs":[]}}]'
"""


def brokerpak(folder: Path, **texts: str) -> Path:
    """The brokerpak in `folder`, with other texts for some of its files: `manifest`, `database`, `redis`, `envrc`."""
    (folder / "definitions").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "images" / "logo.png").write_bytes(PNG)
    files = {"manifest.yml": MANIFEST, "definitions/database.yml": DATABASE, "redis.yml": REDIS, ".envrc": ENVRC}
    for name, text in files.items():
        (folder / name).write_text(texts.get(Path(name).stem.removeprefix("."), text))
    return folder
