"""What platforms export of a registered broker, mapped back to the catalog that it came from.

One module a platform says where its rows keep the fields of a catalog; `read` recognises, `merge` makes the outcome.
"""
