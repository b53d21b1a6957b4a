"""Images of service offerings for a page, in place of addresses: of a folder, or fetched from there."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace

from osbctl.catalog import Catalog
from osbctl.client.catalog_client import fetch_image
from osbctl.client.connection_options import ConnectionOptions
from osbctl.errors import SourceError
from osbctl.pages.safe_content import image_to_data_url, safe_web_address
from osbctl.paths import JsonPath
from osbctl.tasks.page import read_image

SECONDS = 10.0
"""Time for one image; a host that does not answer leaves time for the others."""
MAX_ADDRESSES = 500
"""Most images that are fetched for one page."""


def list_images(folder: str) -> dict[str, str]:
    """Files of a folder by their names without suffix. Raises SourceError: it cannot be read, or has a name twice."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208
    except OSError as error:
        raise SourceError(f"{folder}: cannot be opened: {error.strerror}") from error
    files: dict[str, str] = {}
    for name in names:
        path = os.path.join(folder, name)  # noqa: PTH118
        stem = os.path.splitext(name)[0]  # noqa: PTH122
        if stem in files:
            raise SourceError(f"{path}: {files[stem]} has the same name", "keep one image for each service")
        files[stem] = path
    return files


class PageImages:
    """Images for service offerings: of `files`, by name, else fetched from their `imageUrl`, if there are `options`.

    Each address is asked once, without credentials; `options` limits the size of each image, and the time of all.
    `notes` has a sentence for each that the page cannot show.
    """

    def __init__(self, files: Mapping[str, str], options: ConnectionOptions | None) -> None:
        self.notes: list[str] = []
        self.skipped = 0
        self._files, self._options = files, options
        self._fetched: dict[str, str] = {}
        self._seconds = options.total_seconds if options else 0.0

    def find(self, catalog: Catalog) -> dict[JsonPath, str]:
        """The images of a catalog as `data:` URLs, by the path of the service offering. Raises SourceError."""
        images = {}
        for service in catalog.services:
            if file := self._files.get(service.name):
                images[service.path] = read_image(file)
            elif self._options and (address := safe_web_address(service.metadata.get("imageUrl"))):
                images[service.path] = self._fetch(address, self._options)
        return images

    def _fetch(self, address: str, options: ConnectionOptions) -> str:
        if address in self._fetched:
            return self._fetched[address]
        if self._seconds <= 0 or len(self._fetched) >= MAX_ADDRESSES:
            self.skipped += 1
            return ""
        started = time.monotonic()
        image = ""
        try:
            limited = replace(options, total_seconds=min(SECONDS, self._seconds))
            image = image_to_data_url(fetch_image(address, limited))
            if not image:
                self.notes.append(f"{options.redact_address(address)}: not an image that a page can show")
        except SourceError as error:
            self.notes.append(error.message)
        self._seconds -= time.monotonic() - started
        self._fetched[address] = image
        return image
