"""Renderers: each module has one function ``render(result) -> str`` and prints nothing."""
