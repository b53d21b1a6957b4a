"""HTML pages of catalogs: one file that loads nothing and can be read without a script.

`content` is the input and `render` the output; `offerings` and `compare` turn a catalog into the view models that the
templates in `assets/` print. Nothing of a catalog is trusted: templates escape text, `links` checks addresses, `icons`
checks images, and `redaction` removes secrets.
"""
