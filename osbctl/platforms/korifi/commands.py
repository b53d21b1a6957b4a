"""The commands for Korifi: Cloud Foundry's own."""

from __future__ import annotations

from osbctl.platforms.cloudfoundry.commands import CF

TOOLS = (CF,)
