"""Places in a text, in the units that an editor counts in (LSP 3.17, "Position")."""

import time

from lsprotocol.types import Position

from osbctl.editor.text_document import TextDocument

TEXT = "\ufeffaé\U0001f600b\r\nc\rd\n\U0001f600"
"""A byte order mark, characters of one unit and of more, and each end of a line. The mark is none of the offsets."""


def test_each_offset_is_a_place_and_each_place_an_offset() -> None:
    text = TextDocument("a.yaml", TEXT)
    lines = [(0, 0, [1, 2, 3, 5, 6]), (1, 6, [0, 1]), (2, 8, [0, 1]), (3, 10, [0, 2])]
    for line, start, units in lines:
        for offset, character in enumerate(units, start):
            assert text.position(offset) == Position(line, character)
            assert text.offset(Position(line, character)) == offset


def test_what_lies_beyond_an_end_or_within_a_character() -> None:
    text = TextDocument("a.yaml", TEXT)
    assert text.position(-1) == Position(0, 1)
    assert text.position(99) == Position(3, 2)
    assert text.offset(Position(0, 0)) == 0, "before the mark"
    assert text.offset(Position(0, 99)) == 4, "the end of the line, before CR LF"
    assert text.offset(Position(9, 0)) == 11
    assert text.offset(Position(3, 1)) == 10, "the first half of a surrogate pair"


def test_thousands_of_places_in_one_long_line_do_not_go_through_it_each() -> None:
    text = TextDocument("a.yaml", "\U0001f600" + "abc " * 250_000)
    began = time.process_time()
    places = [text.position(offset).character for offset in range(500_000, 502_000)]
    assert places == [*range(500_001, 502_001)]
    assert time.process_time() - began < 0.3
