"""Exports of platforms, mapped back to catalogs.

`export` of a platform locates the fields of a catalog in its rows; `read` recognises an export; `merge` builds the
catalog.
"""
