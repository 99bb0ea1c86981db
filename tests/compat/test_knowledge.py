"""Knowledge files: every fault of a file at once, with file and line; tables expand to claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.errors import KnowledgeError
from compat.knowledge import load_knowledge

CLAIM = """
- id: {id}
  kind: support
  object: kubernetes
  said: 2025-01-01
  source: {{repo: example/x}}
  summary: Something.
"""


def faults(folder: Path) -> list[str]:
    with pytest.raises(KnowledgeError) as caught:
        load_knowledge(folder)
    return [str(fault) for fault in caught.value.faults]


def write(folder: Path, body: str) -> None:
    (folder / "extra.yaml").write_text("subject: extra\ntitle: Extra\nas_of: 2026-01-31\n" + body)


def test_the_small_knowledge_base_is_sound(small_copy: Path) -> None:
    """What the other tests rest on loads."""
    knowledge = load_knowledge(small_copy)
    assert {"kubernetes", "kubelet", "operator", "driver", "queue", "runtime"} <= set(knowledge.subjects)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("clams: []\n", "data/extra.yaml:4: unknown key 'clams'; did you mean claims?"),
        ("claims:\n- {id: a, kidn: support}\n", "data/extra.yaml:5: unknown key 'kidn'; did you mean kind?"),
        ("claims:\n- {kind: support}\n", "data/extra.yaml:5: claims.0.id: this key is missing"),
        ("claims:\n- {id: a, kind: rumour}\n", "data/extra.yaml:5: claims.0.kind"),
        ("title: Again\n", "data/extra.yaml:4: duplicate key 'title'"),
        ("claims:" + CLAIM.format(id="a") + CLAIM.format(id="a").lstrip("\n"), "data/extra.yaml:11: the claim id 'a' is taken by data/extra.yaml:5"),
        ("claims:" + CLAIM.format(id="skew"), "the claim id 'skew' is taken by data/"),
        ("claims:" + CLAIM.format(id="a").replace("object: kubernetes", "object: kubernets"), "object 'kubernets' is neither a subject nor in vocabulary.yaml; did you mean kubernetes?"),
        ("claims:" + CLAIM.format(id="a") + "  versions: '=>1'\n", "data/extra.yaml:11: a: cannot read '=>1' as a version range"),
        ("claims:" + CLAIM.format(id="a") + "  until: 2024-01-01\n", "the dates are in disorder: said 2025-01-01, until 2024-01-01"),
        ("claims:" + CLAIM.format(id="a") + "  supported_until: 2026-01-01\n  maintenance_until: 2025-01-01\n", "the dates are in disorder: expected supported_until"),
        ("claims:" + CLAIM.format(id="a") + "  grade: tested\n".replace("tested", "great"), "claims.0.grade"),
        ("claims:" + CLAIM.format(id="a").replace("{repo: example/x}", "{path: hearsay}") + "  grade: tested\n", "graded tested needs a source that a reader can open"),
        ("claims:" + CLAIM.format(id="a").replace("{repo: example/x}", "somewhere"), "source 'somewhere' is not under sources"),
        ("claims:" + CLAIM.format(id="a").replace("source: {repo: example/x}", "until: 2025-02-01"), "source is missing"),
        ("claims:" + CLAIM.format(id="a") + "  scope: {oss: duck-1}\n", "unknown scope word 'oss'; did you mean os?"),
        ("claims:" + CLAIM.format(id="a") + "  scope: {provider: pont}\n", "unknown value 'pont' of scope word provider; did you mean pond?"),
        ("claims:" + CLAIM.format(id="a") + "  contradicted_by: [no-such-claim]\n", "names the claim 'no-such-claim', which does not exist"),
        ("claims:" + CLAIM.format(id="a").replace("kind: support", "kind: api") + "  group: x\n  version: v1\n  removed: 'in 2 or so'\n", "a: cannot read 'in 2 or so' as a version"),
        ("claims:" + CLAIM.format(id="a") + "  versions: '>=1.35,<1.31'\n", "a: no version lies in the range '>=1.35,<1.31'"),
        ("claims:" + CLAIM.format(id="a").replace("2025-01-01", "2027-01-01"), "a: said 2027-01-01, after 2026-01-31, the newest as_of of all files"),
        ("claims:" + CLAIM.format(id="a") + "  when: {kubernets: '>=1'}\n", "a: when 'kubernets' is neither a subject"),
        ("claims:" + CLAIM.format(id="a") + "  when: {kubernetes: '=>1'}\n", "a: cannot read '=>1' as a version range"),
        ("component: {role: addon, relies_on: {kubernets: {question: x}}}\n", "data/extra.yaml:4: relies_on 'kubernets' is neither a subject"),
        ("component: {role: addon, relies_on: {kubernetes: {scope: {oss: x}}}}\n", "unknown scope word 'oss'; did you mean os?"),
        ("component: {role: addon, assume_with: kubernets}\n", "assume_with 'kubernets' is neither a subject"),
        ("component: {role: hardware, scope_word: gpuarch}\n", "unknown scope word 'gpuarch'"),
        ("component: {role: driver, text_scope: [{pattern: '(', scope: {os: duck-1}}]}\n", "'(' is no regular expression"),
        ("also: [{subject: twin, title: T, releases_of: kubernets}]\n", "releases_of 'kubernets' is neither a subject"),
        ("releases:\n- {version: latest}\n", "data/extra.yaml:5: cannot read 'latest' as a version"),
        ("releases:\n- {version: 1.0.0}\n- {version: 1.0.0}\n", "the release extra 1.0.0 is listed twice"),
        ("aliases: [queue]\n", "the name 'queue' stands for two subjects"),
        ("also:\n- {subject: queue, title: Q}\n", "the subject 'queue' exists already"),
        ("versions: {pattern: '['}\n", "versions:"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_file_and_line(small_copy: Path, body: str, says: str) -> None:
    """Each kind of mistake gets its own clear sentence."""
    write(small_copy, body)
    assert any(says in fault for fault in faults(small_copy)), faults(small_copy)


def test_all_faults_of_a_file_come_together(small_copy: Path) -> None:
    """Three mistakes, three faults, one run."""
    write(small_copy, "claims:" + CLAIM.format(id="a") + "  versions: nonsense\n  scope: {oss: x}\n  until: 2020-01-01\n")
    assert len(faults(small_copy)) == 3


def test_one_file_does_not_hide_another(small_copy: Path) -> None:
    """Faults of several files are reported in one go."""
    write(small_copy, "clams: []\n")
    (small_copy / "other.yaml").write_text("subject: other\ntitle: Other\n")
    found = faults(small_copy)
    assert any(fault.startswith("data/extra.yaml:4") for fault in found)
    assert any("other.yaml" in fault and "as_of" in fault for fault in found)


def test_a_table_row_overrides_its_defaults(small_copy: Path) -> None:
    """Rows become claims with ids of their own, filled-in summaries and the table's defaults."""
    claims = {claim.id: claim for claim in load_knowledge(small_copy).claims}
    rows = [claim for claim in claims.values() if claim.id.startswith("operator-kubernetes-")]
    assert len(rows) == 5
    last = max(rows, key=lambda claim: claim.known_from)
    assert last.summary == "The table of operator 12 lists kubernetes 1.3 - 1.4 (os duck-2)."
    assert last.source.link == "https://github.com/example/operator/blob/v12.1/support.md"
    assert last.closed


def test_a_row_of_cells_is_one_claim_per_cell(small_copy: Path) -> None:
    """Releases by operands: each cell is a bundle claim."""
    shipped = [(claim.object, claim.object_versions) for claim in load_knowledge(small_copy).claims if claim.id.startswith("operator-ships-12")]
    assert sorted(shipped) == [("driver", "520.1.1"), ("toolkit", "1.2.0")]


def test_a_ci_list_is_not_closed(small_copy: Path) -> None:
    """What CI runs says nothing about what it does not run."""
    claims = {claim.id: claim for claim in load_knowledge(small_copy).claims}
    assert not claims["queue-ci-25"].closed
