"""The kinds of change, each with its text, advice and reactions; `load_all` of `change_kinds` loads them."""
