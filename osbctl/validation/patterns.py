"""Regular expressions out of a catalog: read, never run."""

from __future__ import annotations

import re
import warnings


def fault(pattern: str) -> str:
    """What is wrong with `pattern`, in the words of Python's `re`; empty where nothing is, or it cannot tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python means to change about sets is no fault of the pattern
        try:
            re.compile(pattern)
        except re.error as error:
            return error.msg
        except (RecursionError, OverflowError):
            pass
    return ""
