"""The commands for Korifi: Cloud Foundry's own."""

from osbctl.platforms.cloudfoundry.commands import CF

TOOLS = (CF,)
