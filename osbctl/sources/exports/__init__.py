"""What platforms export of a registered broker, mapped back to the catalog that it came from.

`export` of a platform says where its rows keep the fields of a catalog; `read` recognises, `merge` makes the outcome.
"""
