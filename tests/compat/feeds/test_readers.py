"""Readers of feeds: what they make of payloads in the shape of the real ones, and of payloads in no shape at all."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from pydantic import TypeAdapter

from compat import Matrix
from compat.errors import InputError
from compat.feed_schema import FeedEntry
from compat.feeds.catalogue import READERS
from compat.feeds.constraints import range_of
from compat.feeds.fetch import AbsentError, Fetcher, Page
from compat.feeds.interface import Facts, FeedError, Task
from compat.feeds.known import Known
from compat.ranges import parse_range
from compat.schema import ReleaseEntry
from compat.versions import PLAIN, parse
from tests.compat.feeds import payloads
from tests.compat.feeds.payloads import GITHUB, RAW
from tests.conftest import DAY

RELEASES = f"{GITHUB}/example/operator/releases?per_page=50"
INDEX = "https://charts.example.com/index.yaml"
EOL = "https://endoflife.date/api/v1/products/driver/"
SCHEDULE = f"{RAW}/example/website/main/schedule.yaml"
GATES = f"{GITHUB}/example/website/contents/gates?ref=main"


class Pages(Fetcher):
    """Pages without a network."""

    def __init__(self, pages: dict[str, str]) -> None:
        super().__init__()
        self._pages = pages
        self.asked: list[str] = []

    def get(self, address: str, *, json_only: bool = False) -> Page:  # noqa: ARG002  # as the fetcher has it
        self.asked.append(address)
        if address not in self._pages:
            raise AbsentError(address, "a page", "HTTP 404")
        return Page(address, self._pages[address])


def read(matrix: Matrix, subject: str, entry: dict[str, Any], pages: dict[str, str]) -> Facts:
    form: TypeAdapter[Any] = TypeAdapter(FeedEntry)
    task = Task(f"{subject}-{entry['kind']}", subject, form.validate_python(entry), DAY)
    known = Known(matrix)
    known.add("operator", [ReleaseEntry(version="13.0.0", released=date(2026, 1, 15))])  # what an earlier feed of the same run has read
    return READERS[entry["kind"]](task, Pages(pages), known)


GITHUB_FEED = {"kind": "github-releases", "repo": "example/operator"}
HELM_FEED = {"kind": "helm-index", "url": INDEX, "chart": "operator", "requires": "kubernetes"}
EOL_FEED = {"kind": "endoflife", "product": "driver", "line": r"r(?P<line>\d+)-linux", "days": {"supported_until": "eolFrom"}, "latest": True, "branch_type": True,
            "channels": [{"pattern": "PB", "channel": "production"}]}  # fmt: skip
SCHEDULE_FEED = {"kind": "release-schedule", "repo": "example/website", "path": "schedule.yaml"}
GATES_FEED = {"kind": "feature-gates", "repo": "example/website", "path": "gates", "gates": "^Duck"}
VALUES_FEED = {"kind": "chart-values", "repo": "example/operator", "paths": ["values.yaml"], "newest": 1,
               "bundles": {"toolkit": "toolkit.version", "driver": {"key": "driver.version", "scope": {"driver_managed_by": "gpu-operator"}}}}  # fmt: skip
CI_FEED = {"kind": "ci-versions", "repo": "example/queue", "paths": ["hack/test.mk", "Makefile"], "object": "kubernetes", "newest": 1,
           "pattern": r"^E2E_K8S_VERSIONS\s*\?=\s*(?P<versions>.*)$", "what": "the matrix"}  # fmt: skip


# -- what they read


def test_github_releases(small: Matrix) -> None:
    """Releases with their days; drafts and tags of other things are passed over, a pre-release is one by its number."""
    items = [
        payloads.github_release("v12.1.0", "2026-01-15"),
        payloads.github_release("v12.1.0-rc.2", "2026-01-10", prerelease=True),
        payloads.github_release("v12.2.0", "2026-01-20", draft=True, published_at=None),
        payloads.github_release("chart-9.9.9", "2026-01-20"),
    ]
    facts = read(small, "operator", GITHUB_FEED, {RELEASES: json.dumps(items)})
    assert [(item.version, item.released, item.channel) for item in facts.releases] == [
        ("12.1.0", date(2026, 1, 15), "stable"),
        ("12.1.0-rc.2", date(2026, 1, 10), "rc"),
    ]


def test_a_lineage_decides_what_is_newest(small: Matrix) -> None:
    """The queue went from 25 to 0.x; 0.3.0 is its newest."""
    page = payloads.github_releases(("v25.3.0", "2026-01-02"), ("v0.3.0", "2026-01-03"))
    facts = read(small, "queue", GITHUB_FEED, {RELEASES: page})
    assert [item.version for item in facts.releases] == ["0.3.0", "25.3.0"]


def test_helm_index(small: Matrix) -> None:
    """Versions of one chart, and its floor: an install check, never more than declared."""
    facts = read(
        small, "operator", HELM_FEED, {INDEX: payloads.helm_index("operator", ("v12.1.0", "2026-01-15", ">= 1.2.0-0"), ("v12.0.0", "2025-11-01", None))}
    )
    assert [(item.version, item.released) for item in facts.releases] == [("12.1.0", date(2026, 1, 15)), ("12.0.0", date(2025, 11, 1))]
    (claim,) = facts.claims
    assert (claim["versions"], claim["object"], claim["object_versions"], claim["scope"]) == ("==12.1.0", "kubernetes", ">=1.2", {"install": "helm"})
    assert (claim["basis"], claim["grade"], claim["said"]) == ("install-check", "declared", date(2026, 1, 15))


def test_endoflife(small: Matrix) -> None:
    """Lines that the entry names, their end, their newest version with the channel of its label."""
    page = payloads.endoflife(
        "driver",
        payloads.cycle(
            "r540-linux", "2026-01-05", label="R540-Linux (PB)", eolFrom="2027-01-05", latest={"name": "540.2.1", "date": "2026-01-19", "link": None}
        ),
        payloads.cycle(
            "r530-linux", "2025-12-01", label="R530-Linux", isLts=True, eolFrom=None, latest={"name": "530.1.1", "date": "2025-12-01", "link": None}
        ),
        payloads.cycle("r540-windows", "2026-01-05", eolFrom="2027-01-05"),
    )
    facts = read(small, "driver", EOL_FEED, {EOL: page})
    (claim,) = facts.claims
    assert (claim["kind"], claim["versions"], claim["supported_until"], claim["branch_type"]) == ("lifecycle", "==540.*", date(2027, 1, 5), "production")
    assert claim["said"] == date(2026, 1, 20)
    assert facts.secondary
    assert [(item.version, item.channel) for item in facts.releases] == [("540.2.1", "production"), ("530.1.1", "lts")]


def test_endoflife_offers(small: Matrix) -> None:
    """A provider's windows."""
    entry = {
        "kind": "endoflife", "product": "driver", "claim": "offer", "object": "kubernetes",
        "days": {"available_from": "releaseDate", "standard_until": "eolFrom", "extended_until": "eoesFrom"},
    }  # fmt: skip
    page = payloads.endoflife("driver", payloads.cycle("1.4", "2026-01-25", eolFrom="2027-03-27", isEoes=False, eoesFrom="2028-03-27"))
    (claim,) = read(small, "driver", entry, {EOL: page}).claims
    assert (claim["kind"], claim["object"], claim["object_versions"]) == ("offer", "kubernetes", "==1.4.*")
    assert (claim["available_from"], claim["standard_until"], claim["extended_until"]) == (date(2026, 1, 25), date(2027, 3, 27), date(2028, 3, 27))


def test_release_schedule(small: Matrix) -> None:
    """Patches that are out; the first release of a minor, which has no entry; nothing that is only planned."""
    page = payloads.schedule(("1.4", "2026-01-20", "2027-01-28", "2027-03-28", [("1.4.1", "2026-01-30"), ("1.4.2", "2026-02-10")]))
    facts = read(small, "kubernetes", SCHEDULE_FEED, {SCHEDULE: page})
    assert [(item.version, item.released) for item in facts.releases] == [("1.4.1", date(2026, 1, 30)), ("1.4.0", date(2026, 1, 20))]
    (claim,) = facts.claims
    assert (claim["versions"], claim["supported_until"], claim["maintenance_until"]) == ("==1.4.*", date(2027, 1, 28), date(2027, 3, 28))


def test_feature_gates(small: Matrix) -> None:
    """The stages of the gates that the entry chooses; other pages are not read."""
    pages = {
        GATES: payloads.gates("DuckPonds.md", "Other.md", "Duck.txt"),
        f"{RAW}/example/website/main/gates/DuckPonds.md": payloads.gate("DuckPonds", ("alpha", "1.3", False), ("beta", "1.4", True)),
    }
    (claim,) = read(small, "kubernetes", GATES_FEED, pages).claims
    assert (claim["gate"], claim["versions"]) == ("DuckPonds", ">=1.3")
    assert claim["stages"] == [{"stage": "alpha", "from": "1.3", "default": False}, {"stage": "beta", "from": "1.4", "default": True}]


def test_chart_values(small: Matrix) -> None:
    """Operand versions at the tag of the newest release; the packager's number is kept, the flavour of an image is not."""
    values = payloads.VALUES.replace("v1.4.0", "4.6.0-4.8.3-distroless")
    facts = read(small, "operator", VALUES_FEED, {f"{RAW}/example/operator/v13.0.0/values.yaml": values})
    toolkit, driver = facts.claims
    assert (toolkit["kind"], toolkit["versions"], toolkit["object"], toolkit["object_versions"]) == ("bundle", "==13.0.0", "toolkit", "4.6.0-4.8.3")
    assert (toolkit["role"], toolkit["ref"], toolkit["said"]) == ("default", "v13.0.0", date(2026, 1, 15))
    assert (driver["object_versions"], driver["scope"]) == ("530.1.1", {"driver_managed_by": "gpu-operator"})
    assert {claim["grade"] for claim in facts.claims} == {"declared"}


def test_chart_yaml(small: Matrix) -> None:
    """A list is entered by name; a constraint becomes an install check."""
    entry = {"kind": "chart-values", "repo": "example/operator", "paths": ["Chart.yaml"], "newest": 1,
             "bundles": {"toolkit": "dependencies.helper.version"}, "requires": {"kubernetes": "kubeVersion"}}  # fmt: skip
    bundle, floor = read(small, "operator", entry, {f"{RAW}/example/operator/v13.0.0/Chart.yaml": payloads.CHART}).claims
    assert (bundle["object"], bundle["object_versions"]) == ("toolkit", "0.19.0")
    assert (floor["kind"], floor["object_versions"]) == ("require", ">=1.2")


def test_ci_versions(small: Matrix) -> None:
    """The one feed that is graded tested: a project's own list of what its CI runs, with the file that says so."""
    (claim,) = read(small, "queue", CI_FEED, {f"{RAW}/example/queue/v0.2.0/Makefile": payloads.MAKEFILE}).claims
    assert (claim["kind"], claim["versions"], claim["object_versions"]) == ("support", "==0.2.0", ">=1.2,<1.5")
    assert (claim["grade"], claim["basis"]) == ("tested", "ci")
    assert (claim["source"].ref, claim["source"].path) == ("v0.2.0", "Makefile")


def test_ci_versions_with_a_gap(small: Matrix) -> None:
    """A minor that CI leaves out is not vouched for."""
    page = payloads.MAKEFILE.replace("1.2.0 1.3.1 1.4.0", "1.4.0, 1.2.0")
    (claim,) = read(small, "queue", CI_FEED, {f"{RAW}/example/queue/v0.2.0/Makefile": page}).claims
    assert claim["object_versions"] == "==1.2.* | ==1.4.*"


def test_only_ci_lists_are_graded_tested(small: Matrix) -> None:
    """No other reader has the word."""
    everything = [
        read(small, "operator", HELM_FEED, {INDEX: payloads.helm_index("operator", ("v12.1.0", "2026-01-15", ">=1.2"))}),
        read(small, "driver", EOL_FEED, {EOL: payloads.endoflife("driver", payloads.cycle("r540-linux", "2026-01-05", eolFrom="2027-01-05"))}),
        read(small, "kubernetes", SCHEDULE_FEED, {SCHEDULE: payloads.schedule(("1.4", "2026-01-20", "2027-01-28", "2027-03-28", []))}),
        read(small, "operator", VALUES_FEED, {f"{RAW}/example/operator/v13.0.0/values.yaml": payloads.VALUES}),
    ]
    assert {claim["grade"] for facts in everything for claim in facts.claims} == {"declared"}


@pytest.mark.parametrize(
    ("constraint", "inside", "outside"),
    [
        (">= 1.16.0-0", ["1.16.0", "1.37.1"], ["1.15.9"]),
        (">=1.25.0-0 <1.30", ["1.25.0", "1.29.9"], ["1.24.0", "1.30.0"]),
        (">=1.25, <=1.27.3", ["1.25.0", "1.27.3"], ["1.27.4"]),
        ("^1.21.0-0", ["1.21.0", "1.99.0"], ["1.20.0", "2.0.0"]),
        ("^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]),
        ("~1.24.1", ["1.24.1", "1.24.9"], ["1.25.0", "1.24.0"]),
        ("~1", ["1.0.0", "1.9.0"], ["2.0.0"]),
        ("1.24.x", ["1.24.0", "1.24.7"], ["1.25.0"]),
        ("1.24 - 1.26", ["1.24.0", "1.26.5"], ["1.27.0"]),
        (">=1.20 !=1.22.3", ["1.22.2", "1.22.4"], ["1.22.3"]),
        ("~1.20 || >=1.24", ["1.20.5", "1.24.0"], ["1.21.0"]),
    ],
)
def test_helm_constraints(constraint: str, inside: list[str], outside: list[str]) -> None:
    """Expected by Helm's documentation of its constraints."""
    found = parse_range(range_of(constraint, PLAIN), PLAIN)
    assert [text for text in (*inside, *outside) if parse(text) in found] == inside


@pytest.mark.parametrize("constraint", ["", "latest", ">=", ">=1.2 and more", "1.2.3.4.5", ">1 <1", "$(reboot)", ">=1" * 200])
def test_other_constraints_are_refused(constraint: str) -> None:
    """Never guessed."""
    with pytest.raises(InputError):
        range_of(constraint, PLAIN)


# -- what they refuse

BAD_JSON = ["{}", "[]x", "null", '{"message": "Not Found", "documentation_url": "https://docs.github.com"}', "[[[[" * 5000, '[{"tag_name": 3}]', '"v1"']


@pytest.mark.parametrize("page", BAD_JSON, ids=lambda text: text[:20])
@pytest.mark.parametrize(("subject", "entry", "address"), [("operator", GITHUB_FEED, RELEASES), ("driver", EOL_FEED, EOL), ("kubernetes", GATES_FEED, GATES)])
def test_json_of_another_shape(small: Matrix, subject: str, entry: dict[str, Any], address: str, page: str) -> None:
    """The error names the page and what was expected."""
    with pytest.raises(FeedError, match=r"expected .*, found"):
        read(small, subject, entry, {address: page})


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nschedules: [*b, *b]\nentries: *b\n"


@pytest.mark.parametrize(
    "page", ["a: [", "- 1\n- 2\n", "x: 1\n", BOMB, "!!python/object/apply:os.system [reboot]", "schedules: {}\nentries: []\n", "a: 1\n---\nb: 2\n"]
)
@pytest.mark.parametrize(
    ("subject", "entry", "address"),
    [("operator", HELM_FEED, INDEX), ("kubernetes", SCHEDULE_FEED, SCHEDULE), ("operator", VALUES_FEED, f"{RAW}/example/operator/v13.0.0/values.yaml")],
)
def test_yaml_of_another_shape(small: Matrix, subject: str, entry: dict[str, Any], address: str, page: str) -> None:
    """Bombs, tags, other documents: an error, and nothing is run or blown up."""
    with pytest.raises(FeedError, match=r"expected .*, found"):
        read(small, subject, entry, {address: page})


def one(tag: str, day: str = "2026-01-15", **more: Any) -> dict[str, str]:
    return {RELEASES: json.dumps([payloads.github_release(tag, day, **more)])}


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        (one("v12.1.0", "2026-03-01"), "between 2010"),
        (one("v12.1.0", "1970-01-01"), "between 2010"),
        (one("v12.1.0", published_at="soon"), "a day"),
        (one("v12.1.0", published_at=None), "none"),
        (one("v9999.0.0"), "can follow 12.x"),
        (one("release-candidate"), "tags like"),
        (one("v12.1.0\u202e; rm -rf /"), "tags like"),
        ({RELEASES: json.dumps([payloads.github_release(f"v12.1.{n}", "2026-01-15") for n in range(50)])}, None),
    ],
)
def test_nonsense_among_releases(small: Matrix, pages: dict[str, str], told: str | None) -> None:
    """Days that can't be, numbers that can't follow, tags of another project."""
    if told is None:
        assert len(read(small, "operator", GITHUB_FEED, pages).releases) == 50
        return
    with pytest.raises(FeedError, match=told):
        read(small, "operator", GITHUB_FEED, pages)


def test_thousands_of_releases_are_not_believed(small: Matrix) -> None:
    """A chart that suddenly has hundreds of new versions is no news but a fault."""
    page = payloads.helm_index("operator", *((f"v12.{n}.0", "2026-01-15", None) for n in range(1, 250)))
    with pytest.raises(FeedError, match="at most 200"):
        read(small, "operator", HELM_FEED, {INDEX: page})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("1.2.1", "2.0.0"), "schema_version 1"),
        (('"name": "driver"', '"name": "other"'), "cycles of driver"),
        (("2027-01-05", "2227-01-05"), "between 2010"),
        (("r540-linux", "bookworm"), "cycles like"),
        (("540.2.1", "<script>"), "a version of driver"),
        (('"isLts": false', '"isLts": "perhaps"'), "isLts"),
        (('"eolFrom"', '"endOfLife"'), "eolFrom"),
    ],
)
def test_nonsense_of_endoflife(small: Matrix, change: tuple[str, str], told: str) -> None:
    """Another version of the API, another product, renamed keys, texts where versions should be."""
    cycle = payloads.cycle("r540-linux", "2026-01-05", eolFrom="2027-01-05", latest={"name": "540.2.1", "date": "2026-01-19", "link": None})
    page = payloads.endoflife("driver", cycle)
    assert read(small, "driver", EOL_FEED, {EOL: page}).claims
    with pytest.raises(FeedError, match=told):
        read(small, "driver", EOL_FEED, {EOL: page.replace(*change)})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("1.4.1", "1.5.1"), "a patch of 1.4"),
        (("1.4.1", "1.4.1400"), "a patch of 1.4"),
        (("1.4.1", "$(reboot)"), "a patch of 1.4"),
        (('release: "1.4"', 'release: "1.4.0"'), "a minor of kubernetes"),
        (("2026-01-30", "tomorrow"), "a day"),
        (("endOfLifeDate", "eolDate"), "endOfLifeDate"),
    ],
)
def test_nonsense_of_the_schedule(small: Matrix, change: tuple[str, str], told: str) -> None:
    """Patches of other minors, versions of no Kubernetes, renamed keys."""
    page = payloads.schedule(("1.4", "2026-01-20", "2027-01-28", "2027-03-28", [("1.4.1", "2026-01-30")]))
    with pytest.raises(FeedError, match=told):
        read(small, "kubernetes", SCHEDULE_FEED, {SCHEDULE: page.replace(*change)})


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("# DuckPonds\n", "front matter"),
        (payloads.gate("GooseLakes", ("alpha", "1.3", False)), "the stages of DuckPonds"),
        (payloads.gate("DuckPonds", ("gamma", "1.3", False)), "stage"),
        (payloads.gate("DuckPonds", ("alpha", "v1", False)), "a minor of kubernetes"),
        ("---\ntitle: DuckPonds\ncontent_type: feature_gate\nstages: []\n---\n", "the stages of DuckPonds"),
    ],
)
def test_nonsense_of_gates(small: Matrix, page: str, told: str) -> None:
    """One bad page spoils the feed: half a list of gates would look like a whole one."""
    pages = {GATES: payloads.gates("DuckPonds.md"), f"{RAW}/example/website/main/gates/DuckPonds.md": page}
    with pytest.raises(FeedError, match=told):
        read(small, "kubernetes", GATES_FEED, pages)


def test_file_names_of_a_listing_lead_nowhere_else(small: Matrix) -> None:
    """A name with slashes or dots is never made part of an address."""
    with pytest.raises(FeedError, match="gates like"):
        read(small, "kubernetes", GATES_FEED, {GATES: payloads.gates("Duck/../../../evil.md", "Duck%2e%2e.md", "../Duck.md")})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("toolkit:", "toolkits:"), "the key toolkit.version"),
        (("v1.4.0", "latest"), "a version of toolkit"),
        (("v1.4.0", "[1, 2]"), "a version as toolkit.version"),
        (("v1.4.0", "true"), "a version as toolkit.version"),
        (("v1.4.0", "{{ .Values.global.version }}"), "YAML|key"),
    ],
)
def test_nonsense_of_charts(small: Matrix, change: tuple[str, str], told: str) -> None:
    """A key that moved, a placeholder, another type."""
    with pytest.raises(FeedError, match=told):
        read(small, "operator", VALUES_FEED, {f"{RAW}/example/operator/v13.0.0/values.yaml": payloads.VALUES.replace(*change)})


def test_a_file_that_is_at_no_path_is_told(small: Matrix) -> None:
    """A file that moved is a change of shape, not the absence of news."""
    with pytest.raises(FeedError, match="Makefile"):
        read(small, "queue", CI_FEED, {})


@pytest.mark.parametrize("list_", ["", "$(ALL)", "1.2.0 rm -rf", "99.1.0", "1.2.0 " * 50, "7"])
def test_nonsense_of_ci(small: Matrix, list_: str) -> None:
    """A variable, words, versions of something else: never graded tested."""
    page = payloads.MAKEFILE.replace("1.2.0 1.3.1 1.4.0", list_)
    with pytest.raises(FeedError):
        read(small, "queue", CI_FEED, {f"{RAW}/example/queue/v0.2.0/Makefile": page})
