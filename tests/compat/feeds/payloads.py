"""Payloads in the shape of the real feeds, written for the tests and as small as their readers allow."""

from __future__ import annotations

import json
from typing import Any

GITHUB = "https://api.github.com/repos"
RAW = "https://raw.githubusercontent.com"


def github_release(tag: str, day: str, **more: Any) -> dict[str, Any]:
    """One item of GET /repos/OWNER/NAME/releases."""
    return {
        "url": f"{GITHUB}/example/operator/releases/1", "html_url": f"https://github.com/example/operator/releases/tag/{tag}", "id": 1,
        "author": {"login": "somebody", "id": 2}, "tag_name": tag, "target_commitish": "main", "name": f"Release {tag}", "draft": False, "immutable": False,
        "prerelease": False, "created_at": f"{day}T08:00:00Z", "published_at": f"{day}T09:12:33Z", "assets": [], "body": "## What's changed\r\n* much",
        **more,
    }  # fmt: skip


def github_releases(*items: tuple[str, str]) -> str:
    """A page of releases."""
    return json.dumps([github_release(tag, day, prerelease="-rc" in tag) for tag, day in items])


def helm_index(chart: str, *versions: tuple[str, str, str | None]) -> str:
    """index.yaml of a Helm repository: version, day and kubeVersion of each chart."""
    lines = ["apiVersion: v1", "entries:", f"  {chart}:"]
    for version, day, floor in versions:
        lines += [
            "  - apiVersion: v2",
            f"    appVersion: {version}",
            f'    created: "{day}T03:52:39.000000000Z"',
            "    dependencies:",
            "    - {condition: nfd.enabled, name: node-feature-discovery, repository: 'https://example.com/charts', version: 0.19.0}",
            f"    description: {chart} in a cluster",
            "    digest: 0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a0f5a",
            *([f"    kubeVersion: '{floor}'"] if floor else []),
            f"    name: {chart}",
            f"    urls: [{chart}-{version}.tgz]",
            f"    version: {version}",
        ]
    return "\n".join([*lines, 'generated: "2026-11-30T03:52:39.000000000Z"', ""])


def cycle(name: str, released: str, **more: Any) -> dict[str, Any]:
    """One release cycle of endoflife.date's API v1."""
    return {
        "name": name, "codename": None, "label": name, "releaseDate": released, "isLts": False, "ltsFrom": None, "isEol": False, "eolFrom": None,
        "isMaintained": True, "latest": None, "custom": None, **more,
    }  # fmt: skip


def endoflife(product: str, *cycles: dict[str, Any], modified: str = "2026-01-20", schema: str = "1.2.1") -> str:
    """GET /api/v1/products/PRODUCT/."""
    return json.dumps(
        {
            "schema_version": schema,
            "generated_at": f"{modified}T01:02:03+00:00",
            "last_modified": f"{modified}T01:00:00+00:00",
            "result": {
                "name": product, "aliases": [], "label": product.title(), "category": "app", "tags": ["app"], "versionCommand": None, "identifiers": [],
                "labels": {"eoas": None, "discontinued": None, "eol": "Security Support", "eoes": None},
                "links": {"icon": None, "html": f"https://endoflife.date/{product}", "releasePolicy": None}, "releases": list(cycles),
            },
        }
    )  # fmt: skip


def schedule(*minors: tuple[str, str, str, str, list[tuple[str, str]]]) -> str:
    """data/releases/schedule.yaml of Kubernetes' website: minor, released, maintenance from, end of life, patches."""
    lines = ['# Use "schedule-builder" to maintain this file:', "---", "schedules:"]
    for minor, released, maintenance, end, patches in minors:
        lines += [f'- endOfLifeDate: "{end}"', f'  maintenanceModeStartDate: "{maintenance}"', "  next:", '    cherryPickDeadline: "2026-02-06"']
        lines += [f"    release: {minor}.99", '    targetDate: "2026-02-10"', *(["  previousPatches:"] if patches else [])]
        for patch, day in patches:
            lines += ["  - cherryPickDeadline: N/A", f"    release: {patch}", f'    targetDate: "{day}"']
        lines += [f'  release: "{minor}"', f'  releaseDate: "{released}"']
    return "\n".join([*lines, "upcoming_releases:", '- cherryPickDeadline: "2026-02-06"', '  targetDate: "2026-02-10"', ""])


def gates(*names: str) -> str:
    """GET /repos/OWNER/NAME/contents/FOLDER."""
    return json.dumps([{"name": name, "path": f"gates/{name}", "sha": "0" * 40, "size": 226, "type": "file"} for name in ("_index.md", *names)])


def gate(title: str, *stages: tuple[str, str, bool]) -> str:
    """A page of a feature gate."""
    lines = ["---", f"title: {title}", "content_type: feature_gate", "_build:", "  list: never", "  render: false", "", "stages:"]
    for stage, first, default in stages:
        lines += [f"  - stage: {stage}", f"    defaultValue: {str(default).lower()}", f'    fromVersion: "{first}"']
    return "\n".join([*lines, "---", f"Enables `{title}`: see [the docs](/docs/).", ""])


VALUES = """# Default values
toolkit:
  enabled: true
  repository: registry.example.com/toolkit
  version: v1.4.0
driver:
  enabled: true
  version: "530.1.1"
  manager: {image: driver-manager, version: v0.1.0}
"""
CHART = """apiVersion: v2
name: operator
version: v1.0.0-devel
kubeVersion: ">= 1.2.0-0"
dependencies:
  - name: helper
    version: 0.19.0
    repository: oci://registry.example.com/charts
"""
MAKEFILE = """E2E_TARGET ?= ./test/e2e/...
E2E_K8S_VERSIONS ?= 1.2.0 1.3.1 1.4.0
E2E_K8S_VERSION ?= 1.4
E2E_K8S_FULL_VERSION ?= $(filter $(E2E_K8S_VERSION).%,$(E2E_K8S_VERSIONS))
"""
