"""A broker made with openbrokerapi, as its documentation shows; served by the server that the arguments name."""

from __future__ import annotations

import logging
import sys

from flask import Flask
from openbrokerapi import api
from openbrokerapi.catalog import ServicePlan
from openbrokerapi.service_broker import Service, ServiceBroker


class Broker(ServiceBroker):
    def catalog(self) -> Service:
        plan = ServicePlan(
            id="A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13", name="small", description="A small one.", free=True
        )
        return Service(
            id="6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4",
            name="db",
            description="A database.",
            bindable=True,
            plans=[plan],
        )


def main(server: str, port: int) -> None:
    app = Flask(__name__)
    credentials = api.BrokerCredentials("platform", "correct-horse")
    app.register_blueprint(api.get_blueprint(Broker(), credentials, logging.getLogger("broker")))
    if server == "waitress":
        import waitress

        waitress.serve(app, host="127.0.0.1", port=port)
    else:
        app.run("127.0.0.1", port)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
