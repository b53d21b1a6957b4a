"""Brokers that other people wrote, each on a port of its own: openbrokerapi's on two servers, Yellow Pages' in two ways.

Yellow Pages' broker for MongoDB Atlas runs as its README starts it, and as it must be started with today's openbrokerapi.
There is no MongoDB behind it: the catalog asks nothing of the database.
"""

import logging
import sys
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import pymongo
import waitress
from flask import Flask
from openbrokerapi import api
from openbrokerapi.catalog import ServicePlan
from openbrokerapi.service_broker import Service, ServiceBroker

pymongo.MongoClient = mock.MagicMock()

from atlasbroker.broker import Broker  # noqa: E402
from atlasbroker.config import Config  # noqa: E402
from atlasbroker.service import AtlasBroker  # noqa: E402

ATLAS = {"user": "atlas", "password": "none", "group": "none"}
MONGO = {"uri": "mongodb://127.0.0.1", "db": "broker", "timeoutms": 5000, "collection": "instances"}


class Small(ServiceBroker):
    def catalog(self) -> Service:
        plan = ServicePlan(
            id="A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13", name="small", description="A small one.", free=True
        )
        return Service(
            id="6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4", name="db", description="A database.", bindable=True, plans=[plan]
        )


def app(broker: ServiceBroker, credentials: api.BrokerCredentials | None) -> Flask:
    """As the documentation of openbrokerapi makes it."""
    made = Flask(__name__)
    made.register_blueprint(api.get_blueprint(broker, credentials, logging.getLogger("broker")))
    return made


def serve_with_waitress(made: Flask, port: int) -> None:
    waitress.serve(made, host="127.0.0.1", port=port)


def serve_with_flask(made: Flask, port: int) -> None:
    made.run("127.0.0.1", port)


def main(ports: list[int]) -> None:
    """Serve the brokers of `test_others.py`, in their order."""
    config = Config(ATLAS, MONGO, clusters={"one": "mongodb://%s:%s@127.0.0.1/%s"})
    small = app(Small(), api.BrokerCredentials("platform", "correct-horse"))
    served: list[tuple[Callable[[Any, int], None], Any]] = [
        (serve_with_flask, small),
        (serve_with_waitress, small),
        (serve_with_flask, Broker(config).app),
        (serve_with_flask, app(AtlasBroker(config), None)),
    ]
    for (serve, made), port in zip(served, ports, strict=True):
        threading.Thread(target=serve, args=(made, port)).start()


if __name__ == "__main__":
    main([int(port) for port in sys.argv[1:]])
