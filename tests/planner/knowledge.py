"""Random small knowledge bases, and states of clusters that fit them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import yaml

from compat import Matrix
from tests.conftest import DAY

__all__ = ["Knowledge", "claim", "random_knowledge", "random_state"]

MINORS = 4
SOURCE = {"url": "https://example.com/page"}


class _Plain(yaml.SafeDumper):
    """Writes equal values out each time: knowledge files have no aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  # the library's signature
        return True


@dataclass(frozen=True)
class Knowledge:
    """Invented products: two add-ons beside a control plane, and a driver that the first add-on relies on."""

    names: tuple[str, str, str]
    """Of the two add-ons and the driver."""
    sizes: tuple[int, int, int]
    """Number of releases of each; release k is k.0.0."""
    claims: tuple[dict[str, Any], ...]
    """With the products as positions 0 to 2; 3 is the control plane."""
    extra: tuple[dict[str, Any], ...] = field(default=())

    def load(self, folder: Path) -> Matrix:
        """Write the knowledge as files and read it."""
        folder.mkdir(parents=True)
        for name, document in self.documents().items():
            (folder / f"{name}.yaml").write_text(yaml.dump(document, Dumper=_Plain, sort_keys=False), encoding="utf-8")
        return Matrix.load(as_of=DAY, data=folder)

    def name(self, position: int) -> str:
        """Id of a product."""
        return (*self.names, "kubernetes")[position]

    def documents(self) -> dict[str, dict[str, Any]]:
        """One document per file."""
        found: dict[str, dict[str, Any]] = {"vocabulary": _VOCABULARY, "kubernetes": _KUBERNETES}
        for position, (name, size) in enumerate(zip(self.names, self.sizes, strict=True)):
            component: dict[str, Any] = {"role": "addon", "relies_on": {"kubernetes": {"question": f"the table of {name}"}}}
            if position == 0:
                component["relies_on"][self.names[2]] = {"question": f"the drivers of {name}"}
            if position == 2:
                component = {"role": "driver", "pool_field": "driver", "part_of_drain": True}
            found[name] = {
                "subject": name,
                "title": f"Product {position}",
                "as_of": DAY,
                "component": component,
                "releases": [{"version": f"{k}.0.0", "released": date(2025, k, 1)} for k in range(size, 0, -1)],
                "claims": [],
            }
        for number, item in enumerate((*self.claims, *self.extra)):
            found[self.name(item["subject"])]["claims"].append(self.written(number, item))
        return found

    def written(self, number: int, item: dict[str, Any]) -> dict[str, Any]:
        """A claim as a file has it."""
        rest = {key: value for key, value in item.items() if key not in ("subject", "object")}
        return {"id": f"claim-{number}", "object": self.name(item["object"]), "said": date(2025, 1, 1), "source": SOURCE, "summary": f"Claim {number}.", **rest}

    def renamed(self, names: tuple[str, str, str]) -> Knowledge:
        """The same with other names."""
        return replace(self, names=names)


def claim(subject: int, version: int, target: int, low: int, high: int, *, kind: str = "support", grade: str = "declared") -> dict[str, Any]:
    """A claim about one release of a product and a window of minors of the control plane (target 3) or of releases of another product."""
    window = f">=1.{low},<1.{high + 1}" if target == 3 else f">={low},<{high + 1}"
    more: dict[str, Any] = {"grade": grade, "closed": False} if kind == "support" else {}
    return {"subject": subject, "versions": f"=={version}.*", "object": target, "object_versions": window, "kind": kind, **more}


def random_knowledge(seed: int) -> Knowledge:
    """Draw the claims: windows that move up with the releases, gaps in them, and conflicts."""
    rng = Random(seed)
    sizes = (rng.randint(2, 4), rng.randint(2, 3), rng.randint(2, 3))
    found = []
    for subject, target, width in ((0, 3, MINORS), (1, 3, MINORS), (0, 2, sizes[2])):
        for version in range(1, sizes[subject] + 1):
            first, following = (1 + (number - 1) * (width - 1) // max(1, sizes[subject] - 1) for number in (version, version + 1))
            if rng.random() < 0.93:
                low, high = max(1, first - rng.randint(0, 1)), min(width, following + rng.choice((-1, 0, 0, 1)))
                found.append(claim(subject, version, target, low, max(low, high), grade=rng.choice(("tested", "tested", "declared"))))
            if rng.random() < 0.2:
                low = rng.randint(2, width)
                found.append(claim(subject, version, target, low, min(width, low + rng.randint(0, 1)), kind="conflict"))
    if rng.random() < 0.4:
        found.append({"subject": 0, "object": 0, "kind": "upgrade", "versions": "==1.*", "to_versions": ">=3", "rule": "needs-stop", "stop": "==2.*"})
    return Knowledge(("anchor", "beacon", "copper"), sizes, tuple(found))


def random_state(knowledge: Knowledge, seed: int) -> dict[str, Any]:
    """A cluster on 1.1 with the oldest releases and one or two pools."""
    rng = Random(seed)
    pools = [
        {"name": name, "nodes": rng.randint(1, 5), "kubelet": "1.1.0", "driver": "1.0.0"}
        if rng.random() < 0.7
        else {"name": name, "nodes": 3, "kubelet": "1.1.0"}
        for name in ("east", "west")[: rng.randint(1, 2)]
    ]
    components = {name: "1.0.0" for name in knowledge.names[:2] if rng.random() < 0.85}
    return {"kubernetes": "1.1.0", "components": components, "pools": pools}


_VOCABULARY: dict[str, Any] = {
    "scope": {
        word: {"meaning": word}
        for word in (
            "os",
            "provider",
            "allocation",
            "driver_managed_by",
            "provisioning",
            "sharing",
            "cgroup",
            "kernel",
            "runtime",
            "feature",
            "gpu",
            "gpu_arch",
        )
    }
    | {"node": {"meaning": "One node", "values": ["same"]}},
}
_KUBERNETES: dict[str, Any] = {
    "subject": "kubernetes",
    "title": "A Kubernetes",
    "as_of": DAY,
    "component": {"role": "control-plane"},
    "also": [
        {
            "subject": "kubelet",
            "title": "A kubelet",
            "releases_of": "kubernetes",
            "component": {"role": "node-agent", "pool_field": "kubelet", "part_of_drain": True, "relies_on": {"kubernetes": {"question": "the skew"}}},
        }
    ],
    "releases": [{"version": f"1.{minor}.0", "released": date(2025, 2 * minor, 1)} for minor in range(MINORS, 0, -1)],
    "claims": [
        {
            "id": "skew",
            "kind": "require",
            "subject": "kubelet",
            "object": "kubernetes",
            "skew": {"max_older_minors": 2, "max_newer_minors": 0},
            "grade": "tested",
            "said": date(2024, 1, 1),
            "source": SOURCE,
            "summary": "A kubelet may trail by two minors and never lead.",
        },
        {
            "id": "one-minor",
            "kind": "upgrade",
            "object": "kubernetes",
            "rule": "note",
            "step": {"max": 1},
            "said": date(2024, 1, 1),
            "source": SOURCE,
            "summary": "One minor at a time.",
        },
    ],
}
