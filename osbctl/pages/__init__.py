"""From catalogs to one HTML file that needs nothing else: no request, no server, no script to be read.

`content` is what goes in, `render` what comes out; in between, `offerings` and its neighbours turn a catalog into
values that the templates in `assets/` only print. Nothing of a catalog is trusted: text is escaped by the templates,
addresses pass `links`, pictures pass `pictures`, and secrets are left out by `redact`.
"""
