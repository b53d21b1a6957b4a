"""The platforms' command-line tools, as their modules `tools` have them."""

from collections.abc import Mapping

from osbctl.platforms import Platform
from osbctl.platforms.tools import tools_of

COMMANDS = {tool.name: [*tool.sends.values()] for tool in tools_of(Platform) if isinstance(tool.sends, Mapping)}
"""The commands of each tool that is typed; of the others, a file holds what they send."""
NAME_BROKERS = {name for name, commands in COMMANDS.items() if any("{broker}" in command for command in commands)}
"""The tools that can name one of several brokers."""
