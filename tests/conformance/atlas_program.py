"""Yellow Pages' broker for MongoDB Atlas: as its README starts it, or as it must be started with today's openbrokerapi.

There is no MongoDB behind it: the catalog asks nothing of the database.
"""

from __future__ import annotations

import logging
import sys
from unittest import mock

import pymongo
from flask import Flask
from openbrokerapi import api

pymongo.MongoClient = mock.MagicMock()

from atlasbroker.broker import Broker  # noqa: E402
from atlasbroker.config import Config  # noqa: E402
from atlasbroker.service import AtlasBroker  # noqa: E402

ATLAS = {"user": "atlas", "password": "none", "group": "none"}
MONGO = {"uri": "mongodb://127.0.0.1", "db": "broker", "timeoutms": 5000, "collection": "instances"}


def main(how: str, port: int) -> None:
    config = Config(ATLAS, MONGO, clusters={"one": "mongodb://%s:%s@127.0.0.1/%s"})
    if how == "published":
        app = Broker(config).app
    else:
        app = Flask(__name__)
        app.register_blueprint(api.get_blueprint(AtlasBroker(config), None, logging.getLogger("broker")))
    app.run("127.0.0.1", port)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
