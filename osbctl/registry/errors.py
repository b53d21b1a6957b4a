"""What may be wrong with a name, and the sign that another writer was faster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.errors import RegistryError, UsageError
from osbctl.extras import command_to_install
from osbctl.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable


def missing_extra() -> RegistryError:
    """The error of a library that is not installed."""
    return RegistryError(
        "the registry of brokers needs SQLAlchemy, Alembic and platformdirs", command_to_install("registry")
    )


class UnknownBrokerError(UsageError):
    """No broker of that name is registered."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        known = list(known)
        advice = did_you_mean(name, known) or ("osbctl brokers list shows all" if known else "none is yet")
        super().__init__(f"no broker {name!r} is registered", advice)


class NameTakenError(UsageError):
    """The name is taken, or looks the same as one that is in the name of an environment variable."""

    def __init__(self, name: str, taken: str) -> None:
        if name == taken:
            super().__init__(f"a broker {name!r} is registered already", "osbctl brokers refresh fetches its catalog")
        else:
            super().__init__(
                f"{name!r} and the registered broker {taken!r} would share the variable with the password",
                "choose a name that differs in letters or digits, not in case and signs alone",
            )


class OutdatedError(RegistryError):
    """The broker was changed or removed by another process since it was read."""

    def __init__(self, name: str) -> None:
        super().__init__(f"another process changed the broker {name!r} at the same time", "run it again")
