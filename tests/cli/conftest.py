"""The certificate authority that the broker's tests have."""

from tests.broker.conftest import authority as authority
