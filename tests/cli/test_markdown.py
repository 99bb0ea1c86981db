"""Free texts in Markdown: harmless whatever they hold, and addresses in one piece."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cli.render.plan_markdown import escape

PIECES = (
    "https://", "x", "`", "``", "\\", "[", "](", "<", ">", "|", "*", "_", "javascript:alert(1)", "www.e.example", "://", "!", "@a", " ", "&lt;", "&#96;",
    "a.b", "~~", "\n", "#", "http://h.example/p", "<!--",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join)
READER = MarkdownIt("commonmark").enable("table")


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_a_text_makes_no_markup(text: str) -> None:
    """Read back by an independent parser: no link, image, emphasis or HTML, and one table cell."""
    shown = READER.render(f"- {escape(text)} END")
    assert re.findall(r"<(?!/|ul|li|code|ol)\w+", shown) == []
    assert READER.render(f"| a | b |\n|---|---|\n| {escape(text)} | END |").count("<td>") == 2


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_a_text_of_the_knowledge_makes_no_other_link_than_it_shows(text: str) -> None:
    """A link leads where it says."""
    for address, label in re.findall(r'<a href="([^"]*)">(.*?)</a>', READER.render(f"- {escape(text, links=True)} END")):
        assert address.startswith(("https://", "http://"))
        assert label.replace("&amp;", "&") == address.replace("&amp;", "&") or "%" in address  # the parser encodes odd letters


@pytest.mark.parametrize("links", [True, False])
def test_an_address_is_shown_in_one_piece(links: bool) -> None:
    """Whoever copies it gets to the page: no invisible letter, no backslash, no full stop of the sentence."""
    address = "https://docs.example.com/a_b/c*d/page.html?x=1&y=2#top"
    text = escape(f"See {address}, or (www.example.com/x_y).", links=links)
    opening, closing = ("<", ">") if links else ("`", "`")
    assert text == f"See {opening}{address}{closing}, or (`www.example.com/x_y`)."
