"""What each platform would answer, worked out the way the platform does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osbctl.platforms import Platform
from osbctl.platforms.cloudfoundry import verdict as cloudfoundry
from osbctl.platforms.korifi import verdict as korifi
from osbctl.platforms.kubernetes import verdict as kubernetes
from osbctl.platforms.service_manager import verdict as service_manager

if TYPE_CHECKING:
    from osbctl.platforms.outcome import Outcome


def judge_all(data: dict[str, Any], plain_schemas: bool = False) -> dict[Platform, Outcome]:
    """What each platform does with the catalog `data`, in the order of `Platform`.

    `plain_schemas` says that all parameter schemas are known to be plain, valid draft-04.
    """
    return {
        Platform.CLOUD_FOUNDRY: cloudfoundry.judge(data, plain_schemas),
        Platform.KUBERNETES: kubernetes.judge(data),
        Platform.SERVICE_MANAGER: service_manager.judge(data),
        Platform.KORIFI: korifi.judge(data),
    }
