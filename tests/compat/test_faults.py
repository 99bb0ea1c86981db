"""Messages about written files: in the words of their fields, and without more of the file than is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.errors import DocumentError
from compat.faults import _FORMS
from compat.overlay_schema import overlay_schema
from compat.schema import SubjectFile
from planner.state import ClusterState
from tests.overlays import with_overlay

LIBRARY = re.compile(r"should|String|Tuple|Input|valid (string|tuple|dictionary)|pattern|pydantic", re.IGNORECASE)


def _patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for value in schema.values():
            yield from _patterns(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _patterns(value)


def test_every_form_of_a_field_has_words() -> None:
    """A pattern in a message is read by nobody."""
    schemas = (overlay_schema(), SubjectFile.model_json_schema(by_alias=True), ClusterState.json_schema())
    assert {pattern for schema in schemas for pattern in _patterns(schema)} <= set(_FORMS)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kubernetes: []", "kubernetes: expected at least 1 value, found an empty list"),
        ("kubernetes: ['1.33', 5, {a: b}]", "kubernetes.2: expected a text, found a mapping"),
        ("{kubernetes: 1.33, name: a b}", "name: expected a name of letters, digits and . _ -, found 'a b'"),
        ("{kubernetes: 1.33, name: ''}", "name: expected a name of letters"),
        ("{kubernetes: 1.33, provider: ''}", "provider: expected a text that is not empty, found ''"),
        ("{kubernetes: 1.33, components: x}", "components: expected a mapping, found 'x'"),
        ("{kubernetes: 1.33, pools: x}", "pools: expected a list, found 'x'"),
        ("{kubernetes: 1.33, pools: [{name: a, nodes: many}]}", "pools.0.nodes: expected a whole number, found 'many'"),
        ("{kubernetes: 1.33, pools: [{name: a, nodes: -1}]}", "pools.0.nodes: expected a number that is greater than or equal to 0, found '-1'"),
        ("{kubernetes: 1.33, pools: [{name: a, cgroup: v3}]}", "pools.0.cgroup: expected one of 'v1' or 'v2', found 'v3'"),
        ("{kubernetes: 1.33, features: {Gate: maybe}}", "features.Gate: expected true or false, found 'maybe'"),
        ("{kubernetes: 1.33, captured: soon}", "captured: expected a date such as 2026-09-30, found 'soon'"),
    ],
)
def test_a_fault_of_a_state_is_told_in_the_words_of_its_field(text: str, says: str) -> None:
    """What the checking library calls it helps nobody."""
    with pytest.raises(DocumentError) as found:
        ClusterState.parse(text)
    assert says in str(found.value)
    assert not LIBRARY.search(str(found.value))


@pytest.mark.parametrize(
    "text",
    [
        "root:$6$SECRET$SECRET:19000:0:99999:7:::",
        "root:$6$SECRET:1:0::\ndaemon:*:SECRET:0::",
        "- SECRET",
        "SECRET",
        "token: SECRET\npassword: SECRET",
        "apiVersion: v1\nkind: Secret\ndata: {key: SECRET}",
        "a: *SECRET",
        "a: &SECRET b\nc: *OTHER",
        '{"token": "SECRET"',
        "%SECRET x",
        "a: 'SECRET",
        "export TOKEN=SECRET\nb: 'c: SECRET",
        "SECRETSECRETSECRETSECRETSECRETSECRETSECRETSECRET/SECRETSECRETSECRETSECRET+SECRETSECRET==: 1\nSECRET2: 1",
        "kubernetes: 1.33\npools: [{name: a, gpu: [SECRET]}]",
        "kubernetes: 1.33\ncomponents: [SECRET, SECRET]",
        "kubernetes: 1.33\n$6$SECRET: 1",
    ],
)
def test_a_file_that_was_not_meant_is_not_shown(text: str) -> None:
    """Whoever gives the file of a secret by mistake, perhaps in a pipeline whose log is public, does not read the secret there."""
    with pytest.raises(DocumentError) as found:
        ClusterState.parse(text)
    assert "SECRET" not in str(found.value)


@pytest.mark.parametrize(
    ("place", "good"),
    [
        ("url: 'javascript:alert(1)'", False),
        ("url: 'file:///etc/passwd'", False),
        ("url: 'data:text/html,x'", False),
        ("url: 'ftp://example.com/x'", False),
        ("url: '//example.com/x'", False),
        ("url: 'https://github.com@evil.example/x'", False),
        ("url: 'https://example.com/a b'", False),
        ("path: 'javascript:alert(1)'", False),
        ("path: 'file:///etc/passwd'", False),
        ("url: 'https://example.com/x?y=1#z'", True),
        ("url: 'http://wiki.example.com'", True),
        ("path: 'https://example.com/@team/x'", True),
        ("path: 'docs/results.md'", True),
        ("path: 'C:/results.md'", True),
    ],
)
def test_a_source_can_be_opened_without_harm(tmp_path: Path, place: str, good: bool) -> None:
    """Addresses of sources become links in tickets: only the web, and no host that looks like another one."""
    for body in (
        f"claims: [{{id: a, kind: conflict, subject: operator, source: {{{place}}}, said: 2026-01-01, summary: A.}}]\n",
        f"bans: [{{component: driver, versions: '==520.*', reason: r, owner: o, source: {{{place}}}}}]\n",
    ):
        if good:
            with_overlay(tmp_path, body)
        else:
            with pytest.raises(DocumentError, match="an address that starts with https:// or http://"):
                with_overlay(tmp_path, body)
