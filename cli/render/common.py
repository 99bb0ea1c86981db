"""What the renderers of plans share: sources with numbers, sentences about the outcome."""

from __future__ import annotations

from collections.abc import Iterable

from planner.plan import PairEntry, Plan, Step

__all__ = [
    "Sources",
    "acceptance_words",
    "back",
    "change_words",
    "count_words",
    "drain_words",
    "end_words",
    "headline",
    "knowledge_words",
    "main_claims",
    "verdict_line",
]


class Sources:
    """Numbers the sources of a plan in the order in which they are first cited."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._numbers: dict[str, int] = {}

    def of(self, claims: Iterable[str]) -> list[int]:
        """Numbers of the sources of some claims, each once."""
        found: dict[int, None] = {}
        for identity in claims:
            source = self._plan.claims[identity].source
            place = source.get("link") or " ".join(value for key, value in source.items())
            found[self._numbers.setdefault(place, len(self._numbers) + 1)] = None
        return list(found)

    def listed(self) -> list[tuple[int, str]]:
        """All sources so far: number and address."""
        return [(number, place) for place, number in self._numbers.items()]


def main_claims(step: Step) -> list[str]:
    """Claims that vouch for a step: those of the pairs it touches and of its hops, without the duties."""
    return list(dict.fromkeys([*(claim for pair in step.pairs for claim in pair.claims), *step.claims]))


def headline(plan: Plan) -> str:
    """What the plan is about, in one line."""
    start = plan.start["kubernetes"]
    shown = start if isinstance(start, str) else ", ".join(start)
    name = f"{plan.start['name']}: " if plan.start.get("name") else ""
    nodes = "nodes at the target" if plan.goal.nodes == "target" else "nodes on a supported version"
    return f"{name}Kubernetes {shown} -> {plan.goal.kubernetes}, {nodes}"


def acceptance_words(pair: PairEntry) -> str:
    """Who accepts the risk of a pair; empty if nobody does."""
    if pair.accepted_by is None:
        return "accepted" if pair.accepted else ""
    return f"accepted by {pair.accepted_by.owner} until {pair.accepted_by.expires}: {pair.accepted_by.reason}"


def knowledge_words(plan: Plan) -> str:
    """Which knowledge the plan rests on."""
    layers = f", with {', '.join(layer.id for layer in plan.knowledge.layers)}" if plan.knowledge.layers else ""
    return f"knowledge {plan.knowledge.version}, as of {plan.knowledge.as_of}{layers}"


def drain_words(step: Step) -> str:
    """Nodes that a step empties."""
    parts = [f"{count} {kind}" for count, kind in ((step.drains.gpu_nodes, "GPU"), (step.drains.other_nodes, "other")) if count]
    return ", ".join(parts) or "-"


def end_words(plan: Plan) -> str:
    """What runs at the end of a plan."""
    parts = ((*key.partition("@")[::2], version) for key, version in plan.end.items())
    return ", ".join(f"{component} {version}" + (f" (pool {pool})" if pool else "") for component, pool, version in parts)


def count_words(count: int, noun: str) -> str:
    """A number with its noun in the right number."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def change_words(step: Step, most: int | None = None) -> str:
    """What else moves in a step."""
    words = [f"{change.component} {change.from_} -> {change.to}" for change in step.changes[1:]]
    if most is not None and len(words) > most:
        return "; ".join(words[:most]) + f"; {len(words) - most} more"
    return "; ".join(words)


def back(step: Step) -> str:
    """Whether there is a way back: a question mark where no procedure is known."""
    return "-" if step.kind in ("hold", "prepare") else "no" if not step.reversible else "yes" if step.rollback else "?"


def verdict_line(plan: Plan) -> str:
    """The outcome in one line."""
    cost = plan.cost
    price = f"{count_words(cost.steps, 'step')}, {count_words(cost.gpu_nodes_drained, 'GPU node drain')}"
    price += f", {count_words(cost.other_nodes_drained, 'other node drain')}" if cost.other_nodes_drained else ""
    proven = ", proven optimal" if plan.optimal else ""
    if plan.status == "impossible":
        return f"Verdict: impossible. {plan.conflict.text if plan.conflict else ''}"
    if plan.status == "unknown":
        if plan.exit_code == 10:
            return f"Verdict: safe but for accepted risks ({count_words(len(plan.open_pairs), 'unknown pair')} accepted); {price}{proven}."
        if not plan.holds:
            stays = f"the plan adds no risk, but {count_words(len(plan.lasting), 'pair')} that nothing vouches for now stay as they are"
            return f"Verdict: not safe at the end; {stays}; {price}{proven}."
        count = sum(len(hold.pairs) for hold in plan.holds)
        first = plan.holds[0].before
        return f"Verdict: on hold before {first}: {count_words(count, 'pair')} that nothing vouches for; {price}{proven}."
    own = any("layer" in plan.claims[claim].source for step in plan.steps for pair in step.pairs for claim in pair.claims)
    grades = ("tested" if plan.status == "tested" else "tested or declared by its vendor") + (", or by you" if own else "")
    carried = [step.id for step in plan.steps if step.grade in ("unknown", "broken")]
    if carried:
        stays = f"what nothing vouches for now stays so until after {carried[-1]}, see the findings"
        return f"Verdict: safe as far as it goes; every pair that the plan enters is {grades}, but {stays}; {price}{proven}."
    return f"Verdict: safe; every pair relied on is {grades}; {price}{proven}."
