"""The certificates of the broker's tests."""

from tests.broker.conftest import authority, pair

__all__ = ["authority", "pair"]
