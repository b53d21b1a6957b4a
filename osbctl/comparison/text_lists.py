"""Comparison of the lists of texts in a service offering: its tags and its permissions."""

from typing import Any

from osbctl.comparison.collector import Collector, MatchedPair
from osbctl.comparison.rules import fields as rules
from osbctl.comparison.values import describe_change, equal_or_both_empty, format_value
from osbctl.redaction import redact_text

TEXT_LISTS = {
    "tags": ("tag", rules.TAG_REMOVED, rules.TAG_ADDED, "the tags"),
    "requires": ("requires", rules.REQUIRES_REMOVED, rules.REQUIRES_ADDED, "the permissions in requires"),
}
"""Lists of texts: the word for an entry, the kinds of change to lose and to gain one, the words for all of them."""


def compare_text_list(collector: Collector, pair: MatchedPair, key: str, old: Any, new: Any) -> None:
    """Report added and removed entries of a list of texts. A change's field has the text, its paths the index."""
    if equal_or_both_empty(old, new):
        return
    word, removed, added, _ = TEXT_LISTS[key]
    old_indexes, new_indexes = _first_indexes(old), _first_indexes(new)
    for text, index in old_indexes.items():
        if text not in new_indexes:
            message, field = f"{word} {format_value(text)} removed", (key, redact_text(text))
            collector.add(removed, pair, message, field, text, None, old_path=(key, index), new_path=(key,))
    for text, index in new_indexes.items():
        if text not in old_indexes:
            message, field = f"{word} {format_value(text)} added", (key, redact_text(text))
            collector.add(added, pair, message, field, None, text, old_path=(key,), new_path=(key, index))
    if old_indexes.keys() == new_indexes.keys():
        _report_same_texts(collector, pair, key, old or [], new or [])


def _report_same_texts(collector: Collector, pair: MatchedPair, key: str, old: list[Any], new: list[Any]) -> None:
    """Report that the same texts are in another order, or listed more or less often, or that other values differ."""
    if not all(isinstance(value, str) for value in (*old, *new)):
        collector.add(rules.OTHER, pair, describe_change(key, old, new, (key,)), (key,), old, new)
        return
    *_, all_of_them = TEXT_LISTS[key]
    is_reordered = sorted(old) == sorted(new)
    changed = "changed order" if is_reordered else "are the same, except for how often one is listed"
    collector.add(rules.ORDER, pair, f"{all_of_them} {changed}", (key,), old, new)


def _first_indexes(values: list[Any] | None) -> dict[str, int]:
    """The first index of each text."""
    texts: dict[str, int] = {}
    for index, value in enumerate(values or ()):
        if isinstance(value, str):
            texts.setdefault(value, index)
    return texts
