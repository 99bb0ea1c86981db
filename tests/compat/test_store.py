"""The compiled store: current, whole, shared, and rebuilt when it is not."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from compat import Matrix
from compat import knowledge as knowledge_module
from compat.errors import KnowledgeError, StoreError
from compat.store import content_digest, open_store
from tests.conftest import DAY, SMALL


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own-cache"
    monkeypatch.setenv("COMPAT_CACHE_DIR", str(folder))
    return folder


def stores(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.sqlite"))


def test_the_yaml_is_not_parsed_when_the_store_is_current(own_cache: Path, small_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run reads SQLite only."""
    open_store(small_copy)

    def fail(*_: object) -> None:
        raise AssertionError("the YAML was parsed again")

    monkeypatch.setattr(knowledge_module, "load_knowledge", fail)
    assert len(list(open_store(small_copy).claims())) > 20
    assert len(stores(own_cache)) == 1


def test_a_change_of_the_yaml_makes_a_new_store(own_cache: Path, small_copy: Path) -> None:
    """The file is named after the content."""
    before = open_store(small_copy).meta["digest"]
    queue = small_copy / "queue.yaml"
    queue.write_text(queue.read_text().replace("CI of 0.2 runs", "The CI of 0.2 runs"))
    after = open_store(small_copy)
    assert after.meta["digest"] != before
    assert after.meta["source"] == content_digest(small_copy)
    assert any("The CI of 0.2" in claim.summary for claim in after.claims())


def test_old_stores_are_forgotten(own_cache: Path, small_copy: Path) -> None:
    """The cache does not grow with every change."""
    queue = small_copy / "queue.yaml"
    for number in range(9):
        queue.write_text(queue.read_text() + f"# {number}\n")
        open_store(small_copy)
    assert len(stores(own_cache)) == 6


@pytest.mark.parametrize(
    "damage", [lambda path: path.write_bytes(path.read_bytes()[:5000]), lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"x" * 9000)]
)
def test_a_damaged_store_is_compiled_anew(own_cache: Path, small_copy: Path, damage: object) -> None:
    """Truncated, empty or overwritten: the answer is right all the same."""
    expected = len(list(open_store(small_copy).claims()))
    (path,) = stores(own_cache)
    damage(path)  # type: ignore[operator]
    assert len(list(open_store(small_copy).claims())) == expected


def test_a_store_without_its_last_page_is_not_trusted(own_cache: Path, small_copy: Path) -> None:
    """A file that says another digest inside is not taken for ours."""
    open_store(small_copy)
    (path,) = stores(own_cache)
    with sqlite3.connect(path) as connection:
        connection.execute("update meta set value = 'sha256:other' where key = 'source'")
    connection.close()
    assert open_store(small_copy).meta["source"] == content_digest(small_copy)


def test_without_a_writable_cache_it_works_in_memory(small_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only install on a read-only home still answers."""
    blocked = tmp_path / "file"
    blocked.write_text("a file where the cache folder would be")
    monkeypatch.setenv("COMPAT_CACHE_DIR", str(blocked / "cache"))
    matrix = Matrix.load(as_of=DAY, data=small_copy)
    assert matrix.verdict(("queue", "25.1.0"), ("kubernetes", "1.2")).grade == "tested"


def test_faulty_yaml_leaves_the_old_store(own_cache: Path, small_copy: Path) -> None:
    """A broken edit is an error; what was compiled before is untouched."""
    open_store(small_copy)
    before = {path.name: path.read_bytes() for path in stores(own_cache)}
    (small_copy / "queue.yaml").write_text("subject: queue\n")
    with pytest.raises(KnowledgeError):
        open_store(small_copy)
    assert {path.name: path.read_bytes() for path in own_cache.iterdir()} == before


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    """No knowledge is no empty matrix."""
    with pytest.raises(StoreError, match="no knowledge in"):
        open_store(tmp_path)


def test_many_processes_at_once(own_cache: Path, small_copy: Path) -> None:
    """Ten processes that all find no store agree, and leave one whole file."""
    code = "import sys; from pathlib import Path; from compat.store import open_store; print(len(list(open_store(Path(sys.argv[1])).claims())))"
    running = [subprocess.Popen([sys.executable, "-c", code, str(small_copy)], stdout=subprocess.PIPE, text=True) for _ in range(10)]
    counts = {process.communicate(timeout=120)[0].strip() for process in running}
    assert len(counts) == 1
    assert [path.suffix for path in own_cache.iterdir()] == [".sqlite"]


def test_killed_at_any_moment_it_leaves_the_old_file_or_the_new_one(own_cache: Path, small_copy: Path) -> None:
    """Whatever a killed run leaves behind, the next one answers rightly and no half store is ever in place."""
    code = "import sys; from pathlib import Path; from compat.store import open_store; open_store(Path(sys.argv[1]))"
    for number in range(8):
        queue = small_copy / "queue.yaml"
        queue.write_text(queue.read_text() + f"# {number}\n")
        process = subprocess.Popen([sys.executable, "-c", code, str(small_copy)])
        time.sleep(0.05 + 0.06 * number)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for path in stores(own_cache):
            connection = sqlite3.connect(path)
            assert connection.execute("select value from meta where key = 'complete'").fetchall() == [("yes",)]
            connection.close()
    assert len(list(open_store(small_copy).claims())) > 20


def test_queries_cannot_write(own_cache: Path, small_copy: Path) -> None:
    """SQL from a user reads and nothing else."""
    store = open_store(small_copy)
    assert store.query("select count(*) from subjects")[1][0][0] > 5
    for statement in ("delete from claims", "attach database 'x.db' as x", "pragma query_only = off", "vacuum into 'x.db'", "create table x (y)"):
        with pytest.raises(sqlite3.DatabaseError):
            store.query(statement)
    assert not list(Path().glob("x.db"))


@pytest.mark.parametrize("name", ["we ird", "qu?ery", "ha#sh", "per%20cent", "é"])
def test_any_folder_name_will_do(small_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The cache is found again, and nothing else is made."""
    monkeypatch.setenv("COMPAT_CACHE_DIR", str(tmp_path / name))
    for _ in range(2):
        open_store(small_copy).close()
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == [name]
    assert len(stores(tmp_path / name)) == 1


def test_a_store_may_be_forgotten_in_any_thread() -> None:
    """The garbage collector closes it wherever it happens to run; that must neither fail nor be heard of."""
    held = [open_store(SMALL)]
    faults: list[object] = []
    before = sys.unraisablehook
    sys.unraisablehook = faults.append
    try:
        thread = threading.Thread(target=held.clear)
        thread.start()
        thread.join()
        gc.collect()
    finally:
        sys.unraisablehook = before
    assert faults == []
