"""Exports of platforms, mapped back to catalogs.

`export` of a platform says where its rows keep the fields of a catalog; `read` recognises, `merge` makes the outcome.
"""
