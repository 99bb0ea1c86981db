"""What is already wrong, what ends on the way, and what the plan could not look at. Ids are documented in docs/findings.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compat import Claim, Version
from compat.errors import nearest
from compat.ranges import for_people
from compat.scope import Fit, describe
from compat.verdicts import Caution
from planner.apis import gone, has_part, off_by_default, replacement
from planner.aspects import api_claims
from planner.cites import Cites
from planner.gates import locked_gates
from planner.goal import Goal
from planner.images import is_unsaid
from planner.journey import Journey
from planner.judgements import Judgement
from planner.layer_findings import layer_findings
from planner.plan import Finding

__all__ = ["MOVED", "by_severity", "findings", "standing"]

MOVED = " The plan moves it."
"""End of the text about a version that the plan leaves behind."""


def findings(journey: Journey, goal: Goal, cites: Cites) -> tuple[Finding, ...]:
    """All findings about start, way and end, most severe first."""
    found = [
        *_start_pairs(journey, cites),
        *_unfinished(journey),
        *_overrides(journey, journey.start, cites),
        *_gone_apis(journey, journey.start, cites),
        *_removed_apis(journey, goal, cites),
        *_unserved_apis(journey, {"now": journey.start, "at the end of the plan": journey.end}, cites),
        *_life(journey, {"now": journey.start, "at the end of the plan": journey.end}, cites),
        *locked_gates(journey, [journey.start, *(stage.after for stage in journey.stages)], cites),
        *_advisories(journey, cites),
        *_target(journey, goal),
        *_weak(journey, cites),
        *_cautions(journey, journey.end, cites),
        *_gaps(journey),
        *layer_findings(journey, cites),
    ]
    return by_severity(found)


def by_severity(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, each once, most severe first."""
    order = ("error", "warning", "info")
    return tuple(sorted(dict.fromkeys(found), key=lambda item: order.index(item.severity)))


def standing(journey: Journey, versions: Mapping[str, Version], cites: Cites) -> list[Finding]:
    """What is wrong with a state by itself, whatever is planned, once its parts are at *versions*."""
    label = "now" if dict(versions) == journey.start else "after this change"
    return [
        *_unfinished(journey),
        *_overrides(journey, versions, cites),
        *_gone_apis(journey, versions, cites),
        *_unserved_apis(journey, {label: versions}, cites),
        *_life(journey, {label: versions}, cites),
        *locked_gates(journey, [versions], cites),
        *_cautions(journey, versions, cites),
        *_gaps(journey),
        *layer_findings(journey, cites),
    ]


def _pair(judgement: Judgement) -> str:
    """Two parts with their pools, for people."""
    one, other = judgement.one, judgement.other
    pools = {key.partition("@")[0]: key.partition("@")[2] for key in judgement.keys}
    named = [f"{name} of pool {pool}" if (pool := pools.get(name.split(" ")[0])) else name for name in (one, other)]
    return " with ".join(named)


def _of_pools(versions: Mapping[str, Version], component: str, version: Version) -> str:
    """Where a component runs in a version: the pools, unless it is cluster-wide."""
    pools = [key.partition("@")[2] for key, other in versions.items() if key.startswith(f"{component}@") and other.release == version.release]
    return f" of pool {', '.join(pools)}" if pools else ""


def _start_pairs(journey: Journey, cites: Cites) -> Iterator[Finding]:
    for judgement in journey.pairs.all(journey.start):
        if any(journey.pairs.situation.by_key[key].api for key in judgement.keys if key in journey.start):
            continue  # see api-gone
        claims = cites(judgement.verdict.claims)
        why = f": {judgement.verdict.claims[0].summary}" if judgement.verdict.claims else "."
        if judgement.grade == "broken":
            yield Finding("broken-now", "error", f"{_pair(judgement)} does not work as the cluster is now{why}", claims)
        elif judgement.grade == "unknown":
            yield Finding(
                "unknown-now",
                "warning",
                f"{_pair(judgement)} is what the cluster runs now, but nothing vouches for it. {judgement.verdict.question}",
                claims,
            )


def _unfinished(journey: Journey) -> Iterator[Finding]:
    situation = journey.pairs.situation
    for part in situation.parts:
        if part.mixed:
            where = f"pool {part.pool}" if part.pool else "the cluster"
            mix = ", ".join(version.text for version in part.mixed)
            yield Finding(
                "mixed-versions",
                "warning",
                f"{part.component} of {where} runs in several versions ({mix}); the plan counts from the oldest. Finish or undo that roll-out first.",
            )
    for pool in situation.state.pools:
        waiting = {name: count for name, count in sorted(pool.conditions.items()) if count}
        if waiting:
            text = ", ".join(f"{count} {name}" for name, count in waiting.items())
            yield Finding(
                "unfinished-upgrade",
                "warning",
                f"pool {pool.name} has nodes that are not in their normal state ({text}); bring them back before a step drains nodes or changes a driver.",
            )
        if pool.allocation and len(set(pool.allocation) - {"none"}) > 1:
            yield Finding(
                "double-allocation",
                "error",
                f"pool {pool.name} offers its GPUs through {' and '.join(pool.allocation)} at once; the same GPU can be given out twice.",
            )


def _removed_apis(journey: Journey, goal: Goal, cites: Cites) -> Iterator[Finding]:
    situation = journey.pairs.situation
    for part in situation.parts:
        if not part.pool:
            end = goal.version if part is situation.control else journey.end[part.key]
            for text, removed, claim in gone(situation, part.component, part.version, end) if not part.api else ():
                if has_part(situation, text):
                    continue
                what = f"{text} is in use and is no longer served from {part.component} {removed} on{replacement(claim)}. Migrate before that step."
                yield Finding("api-removed", "error", what, cites([claim]))


def _gone_apis(journey: Journey, versions: Mapping[str, Version], cites: Cites) -> Iterator[Finding]:
    situation = journey.pairs.situation
    for part in situation.parts:
        if not part.pool:
            for text, removed, claim in gone(situation, part.component, None, versions[part.key]) if not part.api else ():
                what = f"{text} is named as in use, but {part.component} does not serve it since {removed}{replacement(claim)}."
                yield Finding("api-gone", "error", what, cites([claim]))


def _unserved_apis(journey: Journey, stations: Mapping[str, Mapping[str, Version]], cites: Cites) -> Iterator[Finding]:
    """APIs in use that exist and are switched off by default: they work as long as someone keeps the switch."""
    situation = journey.pairs.situation
    found: dict[tuple[str, str], tuple[list[str], Claim]] = {}
    for label, versions in stations.items():
        for part in situation.parts:
            if not part.pool:
                for text, claim in off_by_default(situation, part.component, versions[part.key]):
                    where = f"{versions[part.key].release} ({label})"
                    found.setdefault((part.component, text), ([], claim))[0].append(where)
    for (component, text), (places, claim) in found.items():
        group, version = text.split("/")[:2]
        yield Finding(
            "api-off-by-default",
            "warning",
            f"{text} is in use; {component} {' and '.join(dict.fromkeys(places))} has it, but serves it only if --runtime-config={group}/{version}=true is "
            f"set. Keep the flag until clients and manifests have moved{replacement(claim)}. Where the flags of the API server cannot be set it is not served.",
            cites([claim]),
        )


def _life(journey: Journey, stations: Mapping[str, Mapping[str, Version]], cites: Cites) -> Iterator[Finding]:
    situation = journey.pairs.situation
    seen: set[tuple[str, str]] = set()
    last = list(stations.values())[-1]
    for label, versions in stations.items():
        for key, version in versions.items():
            component = key.partition("@")[0]
            if situation.by_key[key].values or is_unsaid(version):
                continue
            if (component, version.release) in seen:
                continue
            seen.add((component, version.release))
            life = situation.matrix.lifecycle(situation.matrix.subjects[component].releases_of or component, version)
            if life is not None and life.until and not life.supported:
                moved = MOVED if last.get(key) != version else ""
                yield Finding(
                    "end-of-support",
                    "warning",
                    f"{component} {version.release}{_of_pools(versions, component, version)}, which runs {label}, "
                    f"has been out of support since {life.until}.{moved}",
                    cites([life.claim]),
                )


def _advisories(journey: Journey, cites: Cites) -> Iterator[Finding]:
    situation = journey.pairs.situation
    seen: set[str] = set()
    for key, version in journey.end.items():
        part = situation.by_key[key]
        for claim in situation.matrix.about(part.component, "upgrade") if not is_unsaid(version) else ():
            if not claim.detail.get("cve") or version not in claim.subject_range or version in claim.to_range or claim.id in seen:
                continue
            matches = [match for scope in situation.places(part) if (match := situation.matrix.fit(claim, scope)).fit is not Fit.NO]
            if not matches:
                continue
            seen.add(claim.id)
            sure = any(match.fit is Fit.YES for match in matches)
            conditions = (describe(matches[0].open) if not sure else "", str(claim.detail.get("condition") or ""))
            condition = " and ".join(part for part in conditions if part)
            where = _of_pools(journey.end, part.component, version)
            yield Finding(
                "security-advisory",
                "warning",
                f"{part.component} {version.release}{where} at the end of the plan{f', if {condition}' if condition else ''}: {claim.summary} "
                f"({', '.join(claim.detail['cve'])})",
                cites([claim]),
            )


def _target(journey: Journey, goal: Goal) -> Iterator[Finding]:
    situation = journey.pairs.situation
    out = {release.version for release in situation.matrix.releases(situation.control.component)}
    if goal.version not in out:
        yield Finding(
            "unreleased-target",
            "warning",
            f"{situation.control.component} {goal.text} was not released on {situation.matrix.as_of}, the day this plan is made for.",
        )


def _overrides(journey: Journey, versions: Mapping[str, Version], cites: Cites) -> Iterator[Finding]:
    """Operands that run in another version than their carrier ships: values that were set once and hold them back."""
    situation = journey.pairs.situation
    for part in situation.parts:
        if part.pool or situation.role(part.component) not in ("addon", "operand"):
            continue
        for carrier in situation.parts:
            for claim in situation.matrix.about(carrier.component, "bundle") if not carrier.pool else ():
                ships = claim.object == part.component and claim.detail.get("role") == "default" and not claim.detail.get("optional")
                if ships and versions[carrier.key] in claim.subject_range and versions[part.key] not in claim.object_range:
                    yield Finding(
                        "overridden-operand",
                        "warning",
                        f"{part.component} {versions[part.key].release} is not what {carrier.component} {versions[carrier.key].release} ships "
                        f"({for_people(claim.object_versions)}): an override, and not the set that was validated. "
                        f"A newer {carrier.component} does not move it.",
                        cites([claim]),
                    )


def _weak(journey: Journey, cites: Cites) -> Iterator[Finding]:
    for judgement in journey.pairs.all(journey.end):
        if judgement.grade == "declared" and judgement.relied_on and set(judgement.keys) <= set(journey.end):
            better = _better(journey, judgement)
            text = f"{_pair(judgement)}, at the end of the plan, is declared, not tested{better}."
            yield Finding("weaker-than-tested", "info", text, cites(judgement.verdict.claims[:3]))


def _better(journey: Journey, judgement: Judgement) -> str:
    """The newest release of the cluster-wide side that is tested with the other one, if it is not the one planned."""
    situation = journey.pairs.situation
    for key, other in (judgement.keys, judgement.keys[::-1]):
        part, partner = situation.by_key[key], situation.by_key[other]
        if situation.role(part.component) == "addon":
            scope = situation.scope(partner.pool) if partner.pool else situation.cluster_scopes[0]
            for release in situation.matrix.releases(part.component, stable_only=True):
                if situation.matrix.verdict((part.component, release.version), (partner.component, journey.end[other]), scope).grade == "tested":
                    return f"; {part.component} {release.text} is tested with it" if release.version != journey.end[key] else ""
    return ""


def _cautions(journey: Journey, versions: Mapping[str, Version], cites: Cites) -> Iterator[Finding]:
    pairs: dict[str, list[str]] = {}
    first: dict[str, Caution] = {}
    for judgement in journey.pairs.all(versions):
        for caution in judgement.verdict.cautions:
            first.setdefault(caution.claim.id, caution)
            if _pair(judgement) not in pairs.setdefault(caution.claim.id, []):
                pairs[caution.claim.id].append(_pair(judgement))
    for identity, caution in first.items():
        yield Finding("caution", "info", f"{'; '.join(pairs[identity])}, {caution}", cites([caution.claim]))


def _gaps(journey: Journey) -> Iterator[Finding]:
    situation = journey.pairs.situation
    for text in situation.state.assumed:
        yield Finding("assumed", "info", f"Assumed: {text}.")
    for part in situation.parts:
        for name in sorted(situation.absent & set(situation.matrix.reliances(part.component))):
            if any(situation.matrix.relies(part.component, name, scope) for scope in situation.places(part)):
                what = f"{part.component} {part.version.release} relies on {name}, which is said to be absent."
                yield Finding("missing-component", "error", what)
    for place, servers in situation.unserved.items():
        what = f"pool {place} allocates its GPUs in a way that {' or '.join(servers)} serves, which is said to be absent: nobody hands them out."
        yield Finding("missing-component", "error", what)
    for name, pools in situation.needed.items():
        if name in situation.absent and not set(pools) <= set(situation.unserved):
            what = f"{name} is said to be absent, and pool {', '.join(pools)} cannot do without it as it is."
            yield Finding("missing-component", "error", what)
    for name, place in situation.unversioned:
        where = f"of pool {place} " if place else ""
        yield Finding(
            "version-unknown",
            "warning",
            f"{name} {where}runs in an unknown version; no pair with it can be vouched for. Give its version in the cluster state.",
        )
    for part in situation.parts:
        if (
            part.version.parts < 3
            and part.version.release not in part.version.text
            and not (situation.state.assumed and situation.role(part.component) in ("control-plane", "node-agent"))
        ):
            yield Finding(
                "assumed",
                "info",
                f"Assumed: {part.key.replace('@', ' of pool ')} {part.version.text} is taken as {part.version.release}, the newest known of its line.",
            )
    for part in situation.parts:
        if not part.values and not situation.matrix.is_released(part.component, part.version):
            what = f"{part.key.replace('@', ' of pool ')} {part.version.release} is no release that is known; it is judged by the ranges that contain it."
            yield Finding("release-unknown", "warning", what)
    for pool in situation.state.pools:
        for word, value in situation.matrix.words.implied("os", pool.os).items() if pool.os else ():
            if getattr(pool, word, None) is None:
                yield Finding("assumed", "info", f"Assumed: {word} {value} on pool {pool.name}, as is usual with {pool.os}.")
    for text in situation.state.apis:
        group, _, rest = text.partition("/")
        version, _, kind = rest.partition("/")
        if not any(api_claims(situation.matrix, part.component, group, version, kind) for part in situation.parts if not part.pool):
            yield Finding("word-unknown", "warning", f"Nothing is known of the API {text}, so that nobody looks after it on the way.")
    for gap in situation.gaps:
        yield Finding("not-considered", "info", f"Not considered, {gap}.")
    known = {part.component for part in situation.parts} | situation.absent | {name for name, _ in situation.unversioned}
    carried = {name for names in journey.pairs.operands.values() for name in names}
    addons = {subject.id for subject in situation.matrix.subjects.values() if subject.role == "addon"}
    others = sorted(name for name in addons - known - carried if situation.possible(name))
    if others:
        yield Finding(
            "not-considered",
            "info",
            f"Not considered, since nothing is known about them in this cluster: {', '.join(others)}. Say --with NAME=VERSION, or NAME=absent.",
        )
    provider = situation.state.provider
    if not provider:
        yield Finding("not-considered", "info", "Not considered, the provider's own limits: the provider is not given (--provider).")
    elif provider not in situation.matrix.subjects:
        yield Finding(
            "not-considered",
            "info",
            f"Not considered, the limits of {provider} itself (versions on offer, windows, node images): nothing is known about them yet.",
        )
    for pool in situation.state.pools:
        if pool.os and not situation.matrix.words.is_known("os", pool.os):
            near = nearest(pool.os, situation.matrix.words.known("os"))
            what = f"pool {pool.name}: nothing is known of the operating system {pool.os}{near}; no list speaks of it, so that what depends on it is unknown."
            yield Finding("word-unknown", "warning", what)
        if pool.gpu and pool.gpu.product and situation.matrix.product_scope(pool.gpu.product) is None:
            what = f"pool {pool.name}: nothing is known of the GPU {pool.gpu.product}; what drives it was not considered."
            yield Finding("word-unknown", "warning", what)
    if situation.matrix.as_of > situation.matrix.ends:
        ends, day = situation.matrix.ends, situation.matrix.as_of
        what = f"The knowledge ends on {ends}, and this is asked for {day}: what was said in between is not considered. Update the program or the knowledge."
        yield Finding("knowledge-ends", "warning", what)
