"""Comparing an answer of the program with what a scenario expects. Every function yields what is missing, in words."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from compat import Matrix
from compat.errors import InputError
from compat.ranges import parse_range
from compat.versions import PLAIN, parse
from tests.cases.scenario import Expect, FindingExpect, StepExpect, VersionExpect

__all__ = ["missing_in", "missing_in_versions"]

Document = Mapping[str, Any]


def missing_in(document: Document, expect: Expect, matrix: Matrix) -> Iterator[str]:
    """What a plan, a check or an explanation in its JSON form does not say and should, or says and should not."""
    status = document.get("status", document.get("verdict"))
    if expect.status is not None and status != expect.status:
        yield f"status: expected {expect.status}, found {status}"
    if expect.optimal is not None and document["optimal"] != expect.optimal:
        yield f"optimal: expected {expect.optimal}"
    if "steps" in document:
        yield from _plan(document, expect, matrix)
    for wanted in expect.findings:
        if not any(_is_finding(found, wanted) for found in document["findings"]):
            near = [_short(found["text"]) for found in document["findings"] if found["id"] == wanted.id]
            yield f"no finding {_given(wanted)}; of that id there are: {near}"
    for wanted in expect.no_findings:
        yield from (f"there should be no such finding: {found['id']}: {found['text']}" for found in document["findings"] if _is_finding(found, wanted))
    yield from _check(document, expect)
    yield from _why(document, expect)
    texts = list(_texts({key: value for key, value in document.items() if key not in ("start", "knowledge")}))
    for fragments in expect.says:
        if not any(_contains(text, fragments) for text in texts):
            yield f"nothing says {fragments}"
    for fragment in expect.silent:
        yield from (f"{fragment!r} should not be said: {_short(text)}" for text in texts if _contains(text, [fragment]) and "Say --with NAME" not in text)


# -- plans


def _plan(document: Document, expect: Expect, matrix: Matrix) -> Iterator[str]:
    steps = document["steps"]
    work = [step for step in steps if step["kind"] != "hold"]
    outline = "; ".join(
        f"{step['id']} {step['kind']} {step['component']}{'@' + step['pool'] if step['pool'] else ''} {step['from']} -> {step['to']}" for step in steps
    )
    place = 0
    for wanted in expect.steps:
        pool = steps if wanted.kind == "hold" else work
        like = [step for step in pool if not list(_step(step, wanted.identity, matrix))]
        found = [step for step in like if steps.index(step) >= place]
        if not found:
            where = "after what was expected before it" if like else "at all"
            yield f"no step {_given(wanted.identity)} {where}; the plan is {outline or 'empty'}"
            continue
        fitting = next((step for step in found if not list(_step(step, wanted, matrix))), found[0])
        place = steps.index(fitting) + 1
        yield from (f"{fitting['id']} ({_given(wanted.identity)}): {fault}" for fault in _step(fitting, wanted, matrix))
    for first, then in expect.before:
        places = [next((index for index, step in enumerate(work) if not list(_step(step, wanted, matrix))), None) for wanted in (first, then)]
        if places[0] is None or places[1] is None or places[0] >= places[1]:
            yield f"{_given(first)} should come before {_given(then)}; the plan is {outline}"
    for key, ranges in expect.moves.items():
        landings = [landing for step in work for landing in _landings(step, key)]
        component = key.partition("@")[0]
        if len(landings) != len(ranges) or not all(_lies(matrix, component, landing, text) for landing, text in zip(landings, ranges, strict=False)):
            yield f"{key}: expected to move to {ranges}, moves to {landings}"
    for rule in expect.always:
        found = [step for step in work if not list(_step(step, rule.step, matrix))]
        if not found:
            yield f"no step {_given(rule.step)} at all; the plan is {outline}"
        yield from (f"{step['id']}: {fault}" for step in found for fault in _step(step, rule.expect, matrix))
    for wanted in expect.no_steps:
        yield from (f"there should be no step {_given(wanted)}: {step['id']}" for step in steps if not list(_step(step, wanted, matrix)))
    yield from _holds(document, expect, matrix)
    if expect.conflict is not None:
        yield from _conflict(document, expect, matrix)
    for fragments in expect.conditions:
        if not any(_contains(text, fragments) for text in document["conditions"]):
            yield f"no condition {fragments}; there are {document['conditions']}"
    for key, text in expect.end.items():
        at = document["end"].get(key)
        if at is None or not _lies(matrix, key.partition("@")[0], at, text):
            yield f"{key} at the end: expected {text}, found {at}"


def _landings(step: Document, key: str) -> Iterator[str]:
    component, _, pool = key.partition("@")
    if pool == (step["pool"] or ""):
        yield from (change["to"] for change in step["changes"] if change["component"] == component)


def _step(step: Document, wanted: StepExpect, matrix: Matrix) -> Iterator[str]:
    for key in ("kind", "component", "pool", "reversible", "grade"):
        value = getattr(wanted, key)
        if value is not None and step[key] != value:
            yield f"{key}: expected {value}, found {step[key]}"
    for key, text in (("from", wanted.start), ("to", wanted.to)):
        if text is not None and not _lies(matrix, step["component"], step[key], text):
            yield f"{key}: expected {text}, found {step[key]}"
    for component, text in wanted.changes.items():
        found = [change["to"] for change in step["changes"] if change["component"] == component]
        if not any(_lies(matrix, component, each, text) for each in found):
            yield f"changes: expected {component} to {text}, found {found}"
    for key in ("requires", "verify", "why", "conditions"):
        entries = [" ".join(_texts(entry)) for entry in step[key]]
        yield from (f"{key}: nothing says {fragments}" for fragments in getattr(wanted, key) if not any(_contains(entry, fragments) for entry in entries))
    if not _contains(step["rollback"], wanted.rollback):
        yield f"rollback: expected {wanted.rollback}, found {step['rollback']!r}"
    yield from (f"{fragment!r} should not be said: {_short(text)}" for fragment in wanted.lacks for text in _texts(step) if _contains(text, [fragment]))


def _holds(document: Document, expect: Expect, matrix: Matrix) -> Iterator[str]:
    ids = [[pair["id"] for pair in hold["pairs"]] for hold in document["holds"]]
    if expect.holds == []:
        yield from (f"there should be no hold: {found}" for found in ids)
    steps = {step["id"]: step for step in document["steps"]}
    for wanted in expect.holds or ():
        like = [
            hold
            for hold, found in zip(document["holds"], ids, strict=True)
            if all(fnmatch.filter(found, pattern) for pattern in wanted.pairs)
            and (wanted.before is None or not list(_step(steps[hold["before"]], wanted.before, matrix)))
        ]
        if not like:
            yield f"no hold {_given(wanted)}; there are {ids}"
    lasting = [pair["id"] for pair in document["lasting"]]
    if expect.lasting == [] and lasting:
        yield f"nothing should last: {lasting}"
    yield from (f"{pattern} should last; there are {lasting}" for pattern in expect.lasting or () if not fnmatch.filter(lasting, pattern))


def _conflict(document: Document, expect: Expect, matrix: Matrix) -> Iterator[str]:
    wanted, found = expect.conflict, document["conflict"]
    if found is None or wanted is None:
        yield "expected a conflict, there is none"
        return
    yield from (f"conflict: {claim} is not among {found['claims']}" for claim in wanted.claims if claim not in found["claims"])
    if not _contains(found["text"], wanted.text):
        yield f"conflict: expected {wanted.text}, found {found['text']}"
    for key, text in wanted.farthest.items():
        component, _, pool = key.partition("@")
        state = found["farthest"]
        entry = next((item for item in state.get("pools", ()) if item["name"] == pool), {}) if pool else {**state, **state.get("components", {})}
        if not _lies(matrix, component, str(entry.get(component)), text):
            yield f"conflict: farthest {key}: expected {text}, found {entry.get(component)}"
    yield from (
        f"conflict: nothing to unlock says {fragments}: {found['unlock']}"
        for fragments in wanted.unlock
        if not any(_contains(text, fragments) for text in found["unlock"])
    )


# -- checks and explanations


def _check(document: Document, expect: Expect) -> Iterator[str]:
    for wanted in expect.pairs:
        found = [pair for pair in document["pairs"] if _names(pair) == set(wanted.pair)]
        if not any(
            pair["verdict"] == wanted.verdict
            and {claim["id"] for claim in pair["claims"]} >= set(wanted.claims)
            and all(any(_contains(" ".join(_texts(caution)), fragments) for caution in pair["cautions"]) for fragments in wanted.cautions)
            for pair in found
        ):
            yield f"no pair {_given(wanted)}; there are {[(pair['a'], pair['b'], pair['verdict'], [claim['id'] for claim in pair['claims']]) for pair in found]}"
    for names in expect.no_pairs:
        yield from (f"{pair['a']} with {pair['b']} should not be judged: {pair['verdict']}" for pair in document["pairs"] if _names(pair) == set(names))
    for hop in expect.hops:
        found = [entry for entry in document["hops"] if entry["hop"].split()[0] == hop.hop]
        if not found or found[0]["rule"] != hop.rule:
            yield f"hop {hop.hop}: expected {hop.rule}, found {[(entry['hop'], entry['rule']) for entry in document['hops']]}"
            continue
        duties = [" ".join(_texts(duty)) for duty in found[0]["actions"]]
        yield from (f"hop {hop.hop}: no duty says {fragments}" for fragments in hop.duties if not any(_contains(duty, fragments) for duty in duties))
        yield from (
            f"hop {hop.hop}: {fragment!r} should not be said: {_short(duty)}" for fragment in hop.lacks for duty in duties if _contains(duty, [fragment])
        )


def _names(pair: Document) -> set[str]:
    return {pair["a"].split()[0], pair["b"].split()[0]}


def _why(document: Document, expect: Expect) -> Iterator[str]:
    if not (expect.claims or expect.no_claims or expect.cautions or expect.question):
        return
    claims = [claim["id"] for claim in document["claims"]] if isinstance(document["claims"], list) else list(document["claims"])
    yield from (f"claim {name} is not named; there are {claims}" for name in expect.claims if name not in claims)
    yield from (f"claim {name} should not be named" for name in expect.no_claims if name in claims)
    if expect.question and not _contains(str(document["question"]), expect.question):
        yield f"question: expected {expect.question}, found {document['question']}"
    cautions = [" ".join(_texts(caution)) for caution in document.get("cautions", ())]
    yield from (f"no caution says {fragments}" for fragments in expect.cautions if not any(_contains(caution, fragments) for caution in cautions))


# -- versions


def missing_in_versions(expect: Expect, component: str, matrix: Matrix) -> Iterator[str]:
    """What reading of versions does not come out as expected."""
    lineage = matrix.lineage(component) if component else PLAIN
    for wanted in expect.versions:
        yield from (f"{wanted.text}: {fault}" for fault in _version(wanted, wanted.component or component, matrix))
    versions = [parse(text, lineage) for text in expect.ascending]
    yield from (f"{one.text} should come before {other.text}" for i, one in enumerate(versions) for other in versions[i + 1 :] if not one < other)
    for group in expect.equal:
        found = [parse(text, lineage) for text in group]
        yield from (f"{other.text} should be {found[0].text}" for other in found[1:] if other != found[0])


def _version(wanted: VersionExpect, component: str, matrix: Matrix) -> Iterator[str]:
    lineage = matrix.lineage(component) if component else PLAIN
    try:
        version = parse(wanted.text, lineage)
    except InputError as error:
        if not wanted.error or not _contains(str(error), wanted.error):
            yield f"is refused: {error}"
        return
    if wanted.error:
        yield f"should be refused, is read as {version.release}"
        return
    for key in ("release", "suffix"):
        if getattr(wanted, key) is not None and getattr(version, key) != getattr(wanted, key):
            yield f"{key}: expected {getattr(wanted, key)}, found {getattr(version, key)}"
    if wanted.prerelease is not None and version.is_prerelease != wanted.prerelease:
        yield f"prerelease: expected {wanted.prerelease}"
    yield from (f"should lie in {text}" for text in wanted.inside if version not in parse_range(text, lineage))
    yield from (f"should not lie in {text}" for text in wanted.outside if version in parse_range(text, lineage))


# -- texts


def _is_finding(found: Document, wanted: FindingExpect) -> bool:
    return (
        wanted.id in (None, found["id"])
        and wanted.severity in (None, found["severity"])
        and _contains(found["text"], wanted.text)
        and set(wanted.claims) <= set(found.get("claims", ()))
    )


def _contains(text: str, fragments: Sequence[str]) -> bool:
    plain = _plain(text)
    return all(_plain(fragment) in plain for fragment in fragments)


_plain: Callable[[str], str] = lambda text: " ".join(text.lower().split())  # noqa: E731  # a name for one expression


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif value is not None:
        yield str(value)


def _short(text: str) -> str:
    return text if len(text) < 160 else text[:160] + "..."


def _lies(matrix: Matrix, component: str, version: str, text: str) -> bool:
    lineage = matrix.lineage(component)
    try:
        return parse(version, lineage) in parse_range(text, lineage)
    except InputError:
        return version == text  # an API version, a way of allocating


def _given(wanted: Any) -> str:
    return str(wanted.model_dump(by_alias=True, exclude_defaults=True))
