"""Named facts of the built-in knowledge, each as its source has it.

These tests pin what vendors have published; where a vendor amends a page, the claim gets a second wording and the date here stays.
"""

from __future__ import annotations

import re
from datetime import date

import pytest

from compat import Matrix
from compat.hops import resolve_hop

GPU_OPERATOR_DOCS = "NVIDIA/cloud-native-docs"
KARPENTER = "aws/karpenter-provider-aws"


@pytest.mark.parametrize(
    ("one", "other", "expected", "cites"),
    [
        # kubernetes-sigs/kueue v0.15: E2E_K8S_VERSIONS = 1.32.8 1.33.4 1.34.0
        (("kueue", "0.15.0"), ("kubernetes", "1.33"), "tested", "kubernetes-sigs/kueue"),
        # dra-driver-nvidia-gpu PR 534: the chart of 25.3.0 and 25.3.1 renders resource.k8s.io/v1beta1, which 1.34 does not serve
        (("dra-driver", "25.3.0"), ("kubernetes", "1.34"), "broken", "kubernetes-sigs/dra-driver-nvidia-gpu"),
        (("dra-driver", "25.3.2"), ("kubernetes", "1.34"), "declared", "kubernetes-sigs/dra-driver-nvidia-gpu"),
        # GPU Operator release notes: 1.36 came with 26.3.2
        (("gpu-operator", "26.3.1"), ("kubernetes", "1.36"), "unknown", GPU_OPERATOR_DOCS),
        (("gpu-operator", "26.3.2"), ("kubernetes", "1.36"), "tested", GPU_OPERATOR_DOCS),
        # 1.34 came with 25.10.0, 1.33 with 25.3.1
        (("gpu-operator", "25.3.4"), ("kubernetes", "1.34"), "unknown", GPU_OPERATOR_DOCS),
        (("gpu-operator", "25.10.0"), ("kubernetes", "1.34"), "tested", GPU_OPERATOR_DOCS),
        (("gpu-operator", "25.3.0"), ("kubernetes", "1.33"), "unknown", GPU_OPERATOR_DOCS),
        (("gpu-operator", "25.3.1"), ("kubernetes", "1.33"), "tested", GPU_OPERATOR_DOCS),
        # the version skew policy
        (("kubelet", "1.34.9"), ("kubernetes", "1.37.0"), "tested", "kubernetes.io/releases/version-skew-policy"),
        (("kubelet", "1.33.9"), ("kubernetes", "1.37.0"), "broken", "kubernetes.io/releases/version-skew-policy"),
        (("kubelet", "1.37.0"), ("kubernetes", "1.36.0"), "broken", "kubernetes.io/releases/version-skew-policy"),
        # the DRA driver's prerequisites page asks for 1.34.2 from 0.4.0 on, README and chart say 1.32: the worst statement counts
        (("dra-driver", "0.4.0"), ("kubernetes", "1.33"), "broken", "kubernetes-sigs/dra-driver-nvidia-gpu"),
        # containerd RELEASES.md: for 1.36 only 2.2 and 2.3
        (("containerd", "1.7.27"), ("kubernetes", "1.36"), "unknown", "containerd/containerd"),
        (("containerd", "2.3.4"), ("kubernetes", "1.36"), "tested", "containerd/containerd"),
        # kubernetes-sigs/jobset README: one of the last three Kubernetes minors; 0.12.0 came while these were 1.34 to 1.36
        (("jobset", "0.12.0"), ("kubernetes", "1.36"), "tested", "kubernetes/test-infra"),
        (("jobset", "0.12.0"), ("kubernetes", "1.37"), "unknown", "kubernetes-sigs/jobset"),
        # lws pull 1060: 1.34 required, 1.34 through 1.37 supported; issue 751: the StatefulSets of 1.35.0 to 1.35.3 get stuck
        (("lws", "0.11.0"), ("kubernetes", "1.33"), "broken", "kubernetes-sigs/lws"),
        (("lws", "0.9.0"), ("kubernetes", "1.35.2"), "broken", "kubernetes-sigs/lws"),
        # HAMi's compatibility matrix ends at 1.28 for 2.8, whatever minimum its README states
        (("hami", "2.8.3"), ("kubernetes", "1.33"), "unknown", "Project-HAMi/website"),
        # Volcano's table: 1.15 is exactly compatible with 1.35
        (("volcano", "1.15.1"), ("kubernetes", "1.35"), "declared", "volcano-sh/volcano"),
        # NVIDIA: all active data-center production drivers; R570 ended in February 2026, R580 is LTS until 2028
        (("gpu-operator", "26.7.0"), ("nvidia-driver", "570.172.08"), "unknown", GPU_OPERATOR_DOCS),
        (("gpu-operator", "26.7.0"), ("nvidia-driver", "580.65.06"), "declared", GPU_OPERATOR_DOCS),
        (("gpu-operator", "26.7.0"), ("nvidia-driver", "580.173.02"), "tested", GPU_OPERATOR_DOCS),
        # Karpenter's compatibility matrix at d77d1a3: 1.34 >= 1.6, 1.35 >= 1.9, 1.36 >= 1.13, 1.37 1.15.x
        (("karpenter", "1.8.1"), ("kubernetes", "1.35"), "broken", KARPENTER),
        (("karpenter", "1.14.1"), ("kubernetes", "1.36"), "tested", KARPENTER),
        (("karpenter", "1.14.1"), ("kubernetes", "1.37"), "broken", KARPENTER),
        (("karpenter", "1.15.1"), ("kubernetes", "1.37"), "tested", KARPENTER),
        # issue 7629: 1.1.1 panics at start on 1.32
        (("karpenter", "1.1.1"), ("kubernetes", "1.32"), "broken", KARPENTER),
        # pkg/providers/version/version.go: MaxK8sVersion is 1.33 in v1.6.5 and 1.34 in v1.6.6, whatever the matrix says of 1.6
        (("karpenter", "1.6.5"), ("kubernetes", "1.34"), "broken", KARPENTER),
        (("karpenter", "1.6.6"), ("kubernetes", "1.34"), "tested", KARPENTER),
        # README of the Cluster Autoscaler: the same minor
        (("cluster-autoscaler", "1.34.5"), ("kubernetes", "1.34"), "tested", "kubernetes/autoscaler"),
    ],
)  # fmt: skip
def test_pair(real: Matrix, one: tuple[str, str], other: tuple[str, str], expected: str, cites: str) -> None:
    """Verdict and source of a pair."""
    verdict = real.verdict(one, other)
    assert verdict.grade == expected
    assert any(cites in f"{claim.source.repo} {claim.source.link}" for claim in verdict.claims)


def test_the_amendment_of_2026_09_04(real: Matrix) -> None:
    """cloud-native-docs pull request 488 raised the operator's range to 1.37 on 2026-09-04."""
    pair = (("gpu-operator", "26.7.0"), ("kubernetes", "1.37"))
    assert real.on(date(2026, 9, 3)).verdict(*pair).grade == "unknown"
    assert real.on(date(2026, 9, 4)).verdict(*pair).grade == "tested"


def test_the_contradiction_about_the_dra_drivers_minimum_is_shown(real: Matrix) -> None:
    """Both wordings are kept side by side."""
    verdict = real.verdict(("dra-driver", "0.4.1"), ("kubernetes", "1.33"))
    assert "dra-kubernetes-1.34.2-docs-0.4" in [claim.id for claim in verdict.claims]
    assert "dra-readme-kubernetes-1.32" in [claim.id for claim in verdict.contradicted]


def test_device_plugin_and_dra_driver_on_one_node(real: Matrix) -> None:
    """Both offer all GPUs; on different nodes nothing forbids them."""
    pair = (("dra-driver", "0.4.1"), ("device-plugin", "0.18.0"))
    assert real.verdict(*pair, {"node": ("same",), "allocation": ("dra",)}).grade == "broken"
    assert real.verdict(*pair, {"allocation": ("device-plugin",)}).grade != "broken"


def test_volcanos_minus_is_no_support(real: Matrix) -> None:
    """A minus in Volcano's table says that the cluster has what Volcano cannot use: shown, but nothing that vouches for the pair."""
    verdict = real.verdict(("volcano", "1.15.1"), ("kubernetes", "1.36"))
    assert verdict.grade == "unknown"
    assert "volcano-1.15-newer-kubernetes" in [caution.claim.id for caution in verdict.cautions]


def test_stops_of_trainer_and_lws(real: Matrix) -> None:
    """Trainer's notes of 2.3 and the LWS installation page rule out a direct way."""
    assert resolve_hop(real, ("kubeflow-trainer", "2.2.1"), ("kubeflow-trainer", "2.4.0")).stop == ">=2.3,<2.4"
    assert resolve_hop(real, ("kubeflow-trainer", "2.2.1"), ("kubeflow-trainer", "2.3.0")).rule == "allowed"
    assert resolve_hop(real, ("lws", "0.9.0"), ("lws", "1.0.0")).stop == ">=0.10,<0.12"


def test_trainer_is_vouched_for_with_the_jobset_of_its_chart_only(real: Matrix) -> None:
    """charts/kubeflow-trainer/Chart.yaml at v2.3.0 depends on JobSet 0.12.0."""
    assert real.verdict(("kubeflow-trainer", "2.3.0"), ("jobset", "0.12.0")).grade == "declared"
    assert real.verdict(("kubeflow-trainer", "2.3.0"), ("jobset", "0.11.1")).grade == "unknown"


def test_kuberay_with_workload_aware_scheduling_needs_1_36(real: Matrix) -> None:
    """docs/guidance/kubernetes-was.md at v1.7.0: the gate speaks v1alpha2, which 1.36 serves and 1.37 removes."""
    pair = (("kuberay", "1.7.1"), ("kubernetes", "1.37"))
    assert real.verdict(*pair, {"feature": ("KubernetesWAS=true",)}).grade == "broken"
    assert real.verdict(*pair).grade == "declared"


@pytest.mark.parametrize(
    ("one", "other", "provisioning", "expected"),
    [
        # EKS user guide, page on the NVIDIA DRA driver: not in Auto Mode; since autumn 2026 from Kubernetes 1.36 on
        (("dra-driver", "0.4.1"), ("kubernetes", "1.35"), "auto-mode", "broken"),
        (("kubelet", "1.35.4"), ("kubernetes", "1.35"), "auto-mode", "broken"),
        (("dra-driver", "0.4.1"), ("kubernetes", "1.36"), "auto-mode", "declared"),
        # issue 9519 and the upgrade guide: up to 1.14 Karpenter launches no node for a claim; static capacity works
        (("karpenter", "1.14.1"), ("kubernetes", "1.35"), "karpenter", "broken"),
        (("karpenter", "1.14.1"), ("dra-driver", "0.4.1"), "karpenter", "broken"),
        (("karpenter", "1.14.1"), ("dra-driver", "0.4.1"), "karpenter-static", "declared"),
        (("dra-driver", "0.4.1"), ("kubernetes", "1.35"), "managed", "declared"),
    ],
)  # fmt: skip
def test_dra_on_eks_depends_on_how_nodes_come_into_being(real: Matrix, one: tuple[str, str], other: tuple[str, str], provisioning: str, expected: str) -> None:
    """No claims on nodes that Auto Mode or Karpenter would have to launch for them."""
    assert real.verdict(one, other, {"provider": ("eks",), "provisioning": (provisioning,), "allocation": ("dra",)}).grade == expected


def test_karpenter_1_15_launches_nodes_for_claims_only_with_its_gate(real: Matrix) -> None:
    """karpenter.sh/docs/tasks/dra: alpha, switched on by settings.enableDRA; the verdict must not hide that."""
    pair, where = (("karpenter", "1.15.1"), ("dra-driver", "0.4.1")), {"provider": ("eks",), "provisioning": ("karpenter",), "allocation": ("dra",)}
    assert real.verdict(*pair, where).conditions == ("feature is settings.enableDRA=true",)
    assert real.verdict(*pair, {**where, "feature": ("settings.enableDRA=false",)}).grade == "broken"


def test_offers_of_eks_and_aks(real: Matrix) -> None:
    """The release calendars of both providers; no start of EKS 1.37 was ever read, so it must not be offered."""
    offers = {claim.id: claim.detail for claim in real.store.claims() if claim.kind == "offer" and claim.grade != "inferred"}
    expected = {
        "eks-offer-1.33": ("2025-05-29", "2026-07-29", "2027-07-29"),
        "eks-offer-1.34": ("2025-10-02", "2026-12-02", "2027-12-02"),
        "aks-offer-1.34": ("2026-01-04", "2026-11-30", "2027-11-30"),
        "aks-offer-1.37": ("2026-10-25", "2027-10-31", "2028-10-31"),
    }
    assert {name: tuple(offers[name][key] for key in ("available_from", "standard_until", "extended_until")) for name in expected} == expected
    assert not [name for name in offers if name.startswith("eks-") and "1.37" in name]


def test_ways_back_on_eks_and_aks(real: Matrix) -> None:
    """EKS takes a control plane back one minor, AKS only a node pool; both within seven days (rollback-cluster.adoc, roll-back-node-pool-version.md)."""
    control, nodes = (("kubernetes", "1.35"), ("kubernetes", "1.34")), (("kubelet", "1.35.9"), ("kubelet", "1.34.12"))
    eks, aks = {"provider": ("eks",)}, {"provider": ("aks",), "provisioning": ("managed",)}
    assert resolve_hop(real, *control, eks).rule == "allowed"
    assert resolve_hop(real, *control, aks).rule == "unknown"
    assert resolve_hop(real, *nodes, aks).rule == "allowed"
    assert resolve_hop(real, ("kubernetes", "1.36"), ("kubernetes", "1.34"), eks).rule == "unknown"


def test_no_amazon_linux_2_nodes_from_1_33(real: Matrix) -> None:
    """EKS published no AL2 AMI for 1.33 (kubernetes-versions-standard.adoc)."""
    where = {"provider": ("eks",), "os": ("al2",), "provisioning": ("managed",)}
    assert real.verdict(("kubelet", "1.33.5"), ("kubernetes", "1.33"), where).grade == "broken"
    assert real.verdict(("kubelet", "1.32.9"), ("kubernetes", "1.33"), where).grade == "tested"


def test_every_claim_has_a_source_a_date_and_a_summary(real: Matrix) -> None:
    """What `kb check` cannot know: no claim is from the future, every tested one has a link, no summary is empty."""
    newest = date.fromisoformat(real.store.meta["as_of"])
    for claim in real.store.claims():
        assert claim.known_from <= newest, claim.id
        assert claim.summary.strip(), claim.id
        assert claim.grade != "tested" or claim.source.link.startswith("https://"), claim.id
        assert not re.search(r"[{}]", claim.summary.replace("{{", "")), claim.id


def test_no_claim_is_unreachable(real: Matrix) -> None:
    """Every subject of a claim is a subject; every object is a subject or a known word."""
    objects = {*real.subjects, *real.store.objects()}
    assert {claim.subject for claim in real.store.claims()} <= set(real.subjects)
    assert {claim.object for claim in real.store.claims()} - {""} <= objects


def test_rhel_minors_of_old_operators(real: Matrix) -> None:
    """The bare-metal table of 24.9 names RHEL 8.8 and 8.10, not RHEL 8 as a whole."""
    pair = (("gpu-operator", "24.9.2"), ("kubernetes", "1.31"))
    assert real.verdict(*pair, {"os": ("rhel-8.10",), "provider": ("kubeadm",)}).grade == "tested"
    assert real.verdict(*pair, {"os": ("rhel-8.6",), "provider": ("kubeadm",)}).grade == "unknown"


def test_a_later_edit_of_a_page_makes_nothing_safe(real: Matrix) -> None:
    """The page of 25.3.0 shows 1.33 since July 2025, the release notes credit it to 25.3.1: both are there, the pair stays unknown."""
    verdict = real.verdict(("gpu-operator", "25.3.0"), ("kubernetes", "1.33"), {"os": ("ubuntu-24.04",), "provider": ("kubeadm",)})
    assert verdict.grade == "unknown"
    assert {"gpu-operator-25.3.0-kubernetes", "gpu-operator-25.3.0-kubernetes-1.33-later-edit"} <= {claim.id for claim in verdict.claims}


@pytest.mark.parametrize(
    ("component", "version", "day", "ends"),
    [
        # deprecated with 26.3.0 (2026-03-19), out with 26.7.0 (2026-08-20); before, nobody could know
        ("gpu-operator", "25.10.1", date(2026, 4, 1), None),
        ("gpu-operator", "25.10.1", date(2026, 11, 30), date(2026, 8, 20)),
        # patched until the second following minor is out: 0.15.0 on 2025-11-28
        ("kueue", "0.13.4", date(2025, 11, 27), None),
        ("kueue", "0.13.4", date(2025, 11, 28), date(2025, 11, 28)),
    ],
)
def test_an_end_of_support_counts_from_the_day_it_was_known(real: Matrix, component: str, version: str, day: date, ends: date | None) -> None:
    """Dates that follow from later releases are not known before those."""
    matrix = real.on(day)
    life = matrix.lifecycle(component, matrix.version(component, version))
    assert (life.until if life else None) == ends


def test_the_driver_image_with_the_wrong_fabric_manager(real: Matrix) -> None:
    """gpu-driver-container issue 735: 580.126.09 for Ubuntu 22.04 carries Fabric Manager 590.48.01; only NVSwitch systems notice."""
    pair = (("gpu-operator", "25.10.1"), ("nvidia-driver", "580.126.09"))
    place = {"os": ("ubuntu-22.04",), "driver_managed_by": ("gpu-operator",)}
    assert real.verdict(*pair, {**place, "hardware": ("nvswitch",)}).grade == "broken"
    assert real.verdict(*pair, {**place, "hardware": ("none",)}).grade == "tested"
    assert real.verdict(*pair, {**place, "os": ("ubuntu-24.04",), "hardware": ("nvswitch",)}).grade == "tested"


def test_an_advisory_of_the_runtime(real: Matrix) -> None:
    """containerd 2.2.5 (2026-06-18) fixes CVE-2026-53488."""

    def open_ones(text: str) -> set[str]:
        version = real.version("containerd", text)
        claims = real.about("containerd", "upgrade")
        return {cve for claim in claims if version in claim.subject_range and version not in claim.to_range for cve in claim.detail.get("cve", [])}

    assert "CVE-2026-53488" in open_ones("2.2.4")
    assert "CVE-2026-53488" not in open_ones("2.2.5")


def test_a_gate_that_came_back(real: Matrix) -> None:
    """pkg/features/kube_features.go: gone in 0.16.0, back from 0.16.4 to 0.16.9, gone in 0.17.0."""
    claim = next(item for item in real.about("kueue", "upgrade") if item.id == "kueue-gate-removed-flavorfungibilityimplicitpreferencedefault")
    gone = {text for text in ("0.15.3", "0.16.0", "0.16.3", "0.16.4", "0.16.9", "0.17.0") if real.version("kueue", text) in claim.to_range}
    assert gone == {"0.16.0", "0.16.3", "0.17.0"}
