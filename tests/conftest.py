"""Fixtures: a small knowledge base of invented products for behaviour, the real one for named facts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from compat import Matrix
from planner import ClusterState

SMALL = Path(__file__).parent / "kb" / "small"
DAY = date(2026, 1, 31)
TODAY = date(2026, 11, 30)

settings.register_profile("compat", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, max_examples=60)
settings.load_profile("compat")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the code says now into tests/golden; read the difference before you commit it")


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep compiled stores out of the user's cache directory, and the user's overlays out of the tests."""
    folder = tmp_path_factory.mktemp("cache")
    names = {"COMPAT_CACHE_DIR": folder, "COMPAT_OVERLAY_DIR": tmp_path_factory.mktemp("overlays"), "COMPAT_UPDATE_DIR": tmp_path_factory.mktemp("updates")}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: str(path) for name, path in names.items()})
    yield folder
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture
def small() -> Matrix:
    """The small knowledge base as of 2026-01-31."""
    return Matrix.load(as_of=DAY, data=SMALL)


@pytest.fixture
def small_copy(tmp_path: Path) -> Path:
    """A copy of the small knowledge base that a test may change."""
    folder = tmp_path / "data"
    shutil.copytree(SMALL, folder)
    return folder


@pytest.fixture(scope="session")
def real() -> Matrix:
    """The built-in knowledge base as of 2026-11-30."""
    return Matrix.load(as_of=TODAY)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file under tests/golden, or write it with --update-golden."""

    def check(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{name} differs; if that is meant, run pytest --update-golden and read the difference"

    return check


def state_of(text: str) -> ClusterState:
    """A cluster state; one that says nothing of pools has none, so that tests of the control plane do not have to ask for nodes."""
    return ClusterState.parse(text if "pools:" in text else f"{text.rstrip()}\npools: []\n")
