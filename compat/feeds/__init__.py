"""Feeds: releases and machine-readable claims from public places, written into an overlay of their own by ``compat kb update``.

`catalogue` says which feeds there are (data), `fetch` reads pages, one module for each kind of feed turns them into `Facts`, `news` finds
what the knowledge base does not have, and `updating` merges it into the one file that `written` reads and replaces.
"""
