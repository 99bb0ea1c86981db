"""The verdict of a pair of versions: what all claims that speak of it come to.

Worst first: ``broken`` (a known conflict, or outside a hard requirement), ``unknown`` (nothing speaks for it), ``declared``,
``tested``. Unknown is never compatible. The rules are those of docs/semantics.md:

* A closed list (a support matrix) is about everything it does not name, too: outside it a pair is unknown, whatever minimum the same
  vendor states elsewhere. A list of what CI runs is not closed.
* A floor that an installer checks can make a pair broken, never declared; nor does what a single feature asks for.
* A scope word that the question leaves open turns a positive claim into a condition and a negative one into a warning.
* A `support` claim of a user's layer is about the pair itself: it counts although a closed list leaves the pair out.
* Claims that contradict each other are all kept; the worst standing statement decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from compat.claims import BUILT_IN, Claim, LifeCycle
from compat.ranges import parse_range
from compat.scope import Fit, Match, Scope, ScopeWords, describe, merge_conditions
from compat.versions import PLAIN, Lineage, Version

__all__ = ["ORDER", "Caution", "Part", "Question", "Verdict", "can_break", "excess", "judge"]

ORDER = ("broken", "unknown", "declared", "tested")
"""Verdicts, worst first."""

Part = tuple[str, Version | None]
"""A component and its version; None for what has no version, such as a provider."""
_ENVIRONMENT = frozenset(("os", "provider", "arch", "runtime", "kernel", "provisioning"))


@dataclass(frozen=True, slots=True)
class Caution:
    """A claim that does not decide the verdict but that a reader must see."""

    claim: Claim
    condition: str
    """When it bites; empty: always, but it is advice."""

    def __str__(self) -> str:
        return f"if {self.condition}: {self.claim.summary}" if self.condition else self.claim.summary


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a pair."""

    grade: str
    """One of `ORDER`."""
    claims: tuple[Claim, ...] = ()
    """The claims that led to it; for ``unknown`` those that were looked at and do not reach."""
    conditions: tuple[str, ...] = ()
    """What an open scope leaves to the reader; any one of them is enough."""
    cautions: tuple[Caution, ...] = ()
    """Conditional conflicts and advice."""
    contradicted: tuple[Claim, ...] = ()
    """Standing claims that say the opposite of what decided."""
    question: str = ""
    """For ``unknown``: what would settle it."""
    alternatives: tuple[Scope, ...] = ()
    """`conditions` as values: scope word -> what it must be, any one of the alternatives being enough."""
    inferred: tuple[Claim, ...] = ()
    """For ``unknown``: support that is ours. It is shown and vouches for nothing."""

    @property
    def is_safe(self) -> bool:
        """Whether a plan may rely on the pair."""
        return self.grade in ("declared", "tested")


@dataclass(frozen=True)
class Question:
    """What is asked."""

    one: Part
    other: Part
    scope: Scope
    day: date
    context: Mapping[str, Version | None] = field(default_factory=dict)
    """Versions of other components in the same place, for claims that hold only beside them; None: known to be absent."""


@dataclass(slots=True)
class _Evidence:
    positive: list[tuple[Claim, str, tuple[tuple[str, tuple[str, ...]], ...]]] = field(default_factory=list)
    negative: list[Claim] = field(default_factory=list)
    outside: list[Claim] = field(default_factory=list)
    """Closed lists that hold here and leave the pair out."""
    elsewhere: list[Claim] = field(default_factory=list)
    """Closed lists of the same vendor for other surroundings."""
    cautions: list[Caution] = field(default_factory=list)
    offers: list[Claim] = field(default_factory=list)
    """What a provider has, where that leaves the pair out."""
    weak: list[Claim] = field(default_factory=list)
    """What is ours and speaks for the pair: shown, never counted."""


def judge(
    question: Question,
    claims: Sequence[Claim],
    words: ScopeWords,
    lifecycle: Callable[[str, Version, date], LifeCycle | None],
    ask: str = "",
    lineage: Callable[[str], Lineage] = lambda _: PLAIN,
    fits: dict[str, Match] | None = None,
) -> Verdict:
    """Weigh *claims* for *question*.

    Args:
        question: the pair, its scope and the day.
        claims: every claim between the two components, in any order.
        words: the vocabulary.
        lifecycle: life cycle of a version on a day, for claims about supported branches.
        ask: where an answer to an unknown pair would be published.
        lineage: version order of a component, for ``when`` conditions.
        fits: how the scopes of claims fit that of the question, by claim id; filled in here, for the next question of the same scope.
    """
    evidence = _Evidence()
    known = {} if fits is None else fits
    for claim in claims:
        if claim.stands_on(question.day):
            match = known.get(claim.id)
            if match is None:
                match = known[claim.id] = words.fit(claim.scope, question.scope)
            if match.fit is not Fit.NO or claim.closed:
                for subject, target in _orientations(claim, question):
                    _weigh(claim, match, subject, target, question, words, lifecycle, lineage, evidence)
    return _combine(question, evidence, ask)


def can_break(claim: Claim, match: Match) -> bool:
    """Whether a claim could make some pair broken where its scope fits like that."""
    return claim.kind in ("conflict", "require", "offer") and claim.severity == "must" and match.fit is Fit.YES


def _orientations(claim: Claim, question: Question) -> list[tuple[Version | None, Version | None]]:
    (one, one_version), (other, other_version) = question.one, question.other
    ways = []
    if (claim.subject, claim.object) == (one, other):
        ways.append((one_version, other_version))
    if (claim.subject, claim.object) == (other, one) and one != other:
        ways.append((other_version, one_version))
    return ways


def _weigh(
    claim: Claim,
    match: Match,
    subject: Version | None,
    target: Version | None,
    question: Question,
    words: ScopeWords,
    lifecycle: Callable[[str, Version, date], LifeCycle | None],
    lineage: Callable[[str], Lineage],
    evidence: _Evidence,
) -> None:
    if claim.versions and (subject is None or subject not in claim.subject_range):
        return
    if (exception := claim.detail.get("unless_scope")) and _is_so(exception, question.scope, words):
        return
    extra = () if claim.is_plain else _open_conditions(claim, question, lineage)
    if extra is None:
        return
    inside = _inside(claim, subject, target, question.day, lifecycle)
    if match.fit is Fit.NO:
        if claim.kind == "support" and claim.closed and inside is False and _differs_by_environment(claim, question, words):
            evidence.elsewhere.append(claim)
        return
    conditions = (*match.open, *extra) if extra else match.open
    if inside is None:
        return
    if claim.kind == "conflict" or (claim.kind == "offer" and claim.detail.get("status") == "not-offered"):
        if inside:
            _against(claim, conditions, evidence)
    elif inside:
        grade = _positive_grade(claim)
        if grade and _speaks_of(claim.versions, subject, claim) and _speaks_of(claim.object_versions, target, claim):
            evidence.positive.append((claim, grade, conditions))
        elif claim.kind == "support" and claim.grade == "inferred":
            evidence.weak.append(claim)
    elif claim.kind == "offer" and not (target is not None and target in claim.object_range):
        evidence.offers.append(claim)  # each offer speaks of its own versions; what none of them names may come yet, or be gone
    elif claim.kind in ("require", "offer"):
        _against(claim, conditions, evidence)
    elif claim.kind == "support" and claim.closed:
        evidence.outside.append(claim)


def _is_so(wanted: Mapping[str, str | Sequence[str]], given: Scope, words: ScopeWords) -> bool:
    """Whether a question says outright that an exception holds."""
    scope = {word: (value,) if isinstance(value, str) else tuple(value) for word, value in wanted.items()}
    return words.fit(scope, given).fit is Fit.YES


def _against(claim: Claim, conditions: tuple[tuple[str, tuple[str, ...]], ...], evidence: _Evidence) -> None:
    if claim.severity == "must" and not conditions:
        evidence.negative.append(claim)
    else:
        evidence.cautions.append(Caution(claim, _described(conditions)))


@lru_cache(maxsize=4096)
def _described(conditions: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    return describe(conditions)


@lru_cache(maxsize=4096)
def _joined(alternatives: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]) -> tuple[Scope, ...]:
    return tuple(merge_conditions(alternatives))


def _positive_grade(claim: Claim) -> str:
    """Grade that a fulfilled claim lends to a pair; empty: none."""
    if claim.grade == "inferred" or claim.detail.get("basis") == "install-check" or claim.detail.get("relation") == "not-bundled":
        return ""
    if claim.kind == "require":
        if not (claim.object_versions or claim.detail.get("skew") or claim.detail.get("relation")):
            return ""
        if set(claim.scope) - _ENVIRONMENT - {"allocation", "driver_managed_by"}:
            return ""  # what one feature or one GPU asks for at least is no statement about the pair as a whole
    return claim.grade if claim.kind in ("support", "offer") or claim.detail.get("skew") else "declared"


def _speaks_of(text: str, version: Version | None, claim: Claim) -> bool:
    """Whether a positive statement means a version: a range of releases vouches for none of their pre-releases that it does not name."""
    return version is None or not version.is_prerelease or bool(claim.detail.get("skew") or claim.detail.get("relation")) or version.release in text


def _inside(
    claim: Claim, subject: Version | None, target: Version | None, day: date, lifecycle: Callable[[str, Version, date], LifeCycle | None]
) -> bool | None:
    """Whether the pair lies in what the claim speaks of; None: the claim says nothing about pairs."""
    if claim.kind not in ("support", "require", "conflict", "bundle", "offer"):
        return None
    if claim.is_plain and claim.kind != "offer":
        return True if not claim.object_versions else None if target is None else target in claim.object_range
    skew = claim.detail.get("skew")
    if skew:
        if subject is None or target is None:
            return None
        return excess(claim, subject, target) == 0
    if claim.detail.get("relation") == "equal-version":
        return None if subject is None or target is None else subject.key == target.key
    where = claim.detail.get("object_where")
    if where:
        state = lifecycle(claim.object, target, day) if target is not None else None
        if state is None:
            return False
        return state.branch_type in where["branch_type"] and (not where.get("supported", True) or state.supported)
    if not claim.object_versions:
        return True
    if target is None:
        return None
    if claim.kind == "offer" and not _offered(claim, day):
        return False
    return target in claim.object_range


def excess(claim: Claim, subject: Version | None, target: Version | None) -> int:
    """By how many minors two versions are farther apart than a skew rule lets them; 0 for other claims."""
    skew = claim.detail.get("skew")
    if not skew or subject is None or target is None:
        return 0
    distance = (subject.key.major - target.key.major) * 1000 + subject.key.minor - target.key.minor
    return max(0, -int(skew.get("max_older_minors", 0)) - distance, distance - int(skew.get("max_newer_minors", 0)))


def _offered(claim: Claim, day: date) -> bool:
    start = claim.detail.get("available_from")
    ends = [claim.detail[key] for key in ("standard_until", "extended_until", "maintenance_until") if claim.detail.get(key)]
    return not (start and day.isoformat() < start) and not (ends and day.isoformat() > max(ends))


def _open_conditions(claim: Claim, question: Question, lineage: Callable[[str], Lineage]) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Conditions beyond the scope that the question leaves open; None: the claim does not apply."""
    conditions: list[tuple[str, tuple[str, ...]]] = []
    when = claim.detail.get("when")
    if isinstance(when, Mapping):
        beside = {**question.context, question.one[0]: question.one[1], question.other[0]: question.other[1]}
        for name, text in when.items():
            if name not in beside:
                conditions.append((name, (text,)))
            elif (version := beside[name]) is None or version not in parse_range(text, lineage(name)):
                return None
    elif when:
        conditions.append(("condition", (str(when),)))
    if claim.detail.get("condition"):
        conditions.append(("condition", (str(claim.detail["condition"]),)))
    return tuple(conditions)


def _differs_by_environment(claim: Claim, question: Question, words: ScopeWords) -> bool:
    """Whether only words about the surroundings keep the claim from applying: then its list is still the vendor's list."""
    rest = {word: values for word, values in claim.scope.items() if word not in _ENVIRONMENT}
    return words.fit(rest, question.scope).fit is Fit.YES


def _combine(question: Question, evidence: _Evidence, ask: str) -> Verdict:
    cautions = tuple(dict.fromkeys(evidence.cautions))
    if evidence.negative:
        exceptions = tuple(f"unless {claim.detail['unless']}" for claim in evidence.negative if claim.detail.get("unless"))
        return Verdict("broken", tuple(evidence.negative), exceptions, cautions, tuple(claim for claim, _, _ in evidence.positive))
    positive = [item for item in evidence.positive if not _overruled(item[0], evidence.outside, question)]
    closed = {claim.subject for claim in (*evidence.outside, *evidence.elsewhere)}
    tested = [item for item in positive if item[1] == "tested"]
    declared = [
        item for item in positive if item[1] == "declared" and (item[0].subject not in closed or item[0].detail.get("object_where") or _is_own(item[0]))
    ]
    for grade, found in (("tested", tested), ("declared", declared)):
        if found:
            sure = [item for item in found if not item[2]]
            used = sure or found
            own = any(_is_own(item[0]) for item in used)
            contradicted = tuple(claim for claim in evidence.outside if own or (not claim.scope and not sure))
            alternatives = _joined(tuple(item[2] for item in used))
            texts = tuple(_described(tuple(alternative.items())) for alternative in alternatives)
            return Verdict(grade, tuple(item[0] for item in used), texts, cautions, contradicted, alternatives=alternatives)
    looked_at = tuple(dict.fromkeys((*evidence.outside, *evidence.elsewhere, *evidence.offers, *(item[0] for item in evidence.positive))))
    return Verdict("unknown", looked_at, (), cautions, (), _settling(question, bool(looked_at), ask), inferred=tuple(dict.fromkeys(evidence.weak)))


def _overruled(positive: Claim, outside: Sequence[Claim], question: Question) -> bool:
    """Whether a sharper closed list, about the same thing, leaves out what a wider one contains."""
    if positive.kind != "support" or _is_own(positive):
        return False
    given = set(question.scope)
    return any(
        claim.subject == positive.subject
        and claim.object == positive.object
        and set(claim.scope) > set(positive.scope)
        and set(claim.scope) <= given
        and all(claim.scope[word] == values for word, values in positive.scope.items())
        for claim in outside
    )


def _is_own(claim: Claim) -> bool:
    """Whether users state for themselves that a pair works: that is about the pair, whatever a vendor's list leaves out."""
    return claim.kind == "support" and claim.layer != BUILT_IN and not claim.closed


def _settling(question: Question, looked_at: bool, ask: str) -> str:
    names = [f"{name} {version.release}" if version else name for name, version in (question.one, question.other)]
    start = "The published lists do not reach" if looked_at else "No claim speaks of"
    place = f" A statement would be in {ask}." if ask else ""
    return f"{start} {names[0]} with {names[1]}.{place} A test of your own settles it, too."
