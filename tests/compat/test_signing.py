"""Signatures: keys as the usual tools make them, and nothing unsigned or changed is used."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from compat import Matrix
from compat.exports import export
from compat.signing import SignatureError, sign_bytes, signature_path, verify_bytes
from compat.snapshots import open_snapshot
from tests.conftest import DAY

PEM, SSH = serialization.Encoding.PEM, serialization.Encoding.OpenSSH


class Keys:
    """A pair of keys in files."""

    def __init__(self, folder: Path, name: str, passphrase: bytes | None = None) -> None:
        key = Ed25519PrivateKey.generate()
        locked = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
        self.private, self.public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
        self.private.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, locked))
        self.public.write_bytes(key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo))


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path, "ours")


@pytest.fixture
def signed(small: Matrix, tmp_path: Path, keys: Keys) -> Path:
    """A signed snapshot of the small knowledge base."""
    path = tmp_path / "kb.json"
    path.write_bytes(export(small.store, "json"))
    signature_path(path).write_bytes(sign_bytes(path.read_bytes(), keys.private))
    return path


def test_a_signed_snapshot_is_used(small: Matrix, signed: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """By argument and by environment."""
    assert Matrix.load(as_of=DAY, snapshot=signed, snapshot_key=keys.public).snapshot == small.snapshot
    monkeypatch.setenv("COMPAT_SNAPSHOT", str(signed))
    monkeypatch.setenv("COMPAT_SNAPSHOT_KEY", str(keys.public))
    assert Matrix.load(as_of=DAY).snapshot == small.snapshot


def test_one_changed_byte_is_refused(signed: Path, keys: Keys) -> None:
    """Also if the same file was good, compiled and used before."""
    open_snapshot(signed, keys.public)
    content = bytearray(signed.read_bytes())
    content[len(content) // 2] ^= 1
    signed.write_bytes(bytes(content))
    with pytest.raises(SignatureError, match="the file was changed, or another key signed it"):
        open_snapshot(signed, keys.public)


def test_what_is_checked_is_what_is_used(signed: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is exchanged after it was read is not read again."""
    import compat.snapshots as module

    def exchange(content: bytes, path: Path, key: Path) -> None:
        verify_bytes(content, path, key)
        path.write_text("{}")

    monkeypatch.setattr(module, "verify_bytes", exchange)
    store = open_snapshot(signed, keys.public)
    assert store.query("select count(*) from claims")[1][0][0] > 20
    assert signed.read_text() == "{}"


def test_a_missing_signature_is_refused(signed: Path, keys: Keys) -> None:
    """With a key, unsigned is as bad as wrong."""
    signature_path(signed).unlink()
    with pytest.raises(SignatureError, match=r"is not used: cannot read the signature"):
        open_snapshot(signed, keys.public)


@pytest.mark.parametrize("content", [b"", b"x" * 63, b"x" * 64, b"x" * 65, b"x" * 10_000])
def test_what_is_no_signature_is_refused(signed: Path, keys: Keys, content: bytes) -> None:
    """Empty, short, wrong, long."""
    signature_path(signed).write_bytes(content)
    with pytest.raises(SignatureError, match="is not used"):
        open_snapshot(signed, keys.public)


def test_the_signature_of_another_key_is_refused(signed: Path, tmp_path: Path) -> None:
    """Only the key that the user trusts counts."""
    with pytest.raises(SignatureError, match="another key signed it"):
        open_snapshot(signed, Keys(tmp_path, "theirs").public)


def test_keys_that_cannot_be_used(signed: Path, keys: Keys, tmp_path: Path) -> None:
    """Each gets its own sentence."""
    rsa = generate_private_key(65537, 2048)
    (tmp_path / "rsa.pem").write_bytes(rsa.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    (tmp_path / "rsa.pub").write_bytes(rsa.public_key().public_bytes(SSH, serialization.PublicFormat.OpenSSH))
    (tmp_path / "text").write_text("no key")
    for name, says in (("rsa.pem", "is no Ed25519 key"), ("text", "cannot be used"), ("none", "cannot read the key")):
        with pytest.raises(Exception, match=says):
            sign_bytes(b"x", tmp_path / name)
    for path, says in (
        (tmp_path / "rsa.pub", "is no Ed25519 key"),
        (keys.private, "it holds a private key; give the public one"),
        (tmp_path / "text", "cannot be used"),
        (tmp_path / "none", "cannot read the public key"),
    ):
        with pytest.raises(Exception, match=says):
            open_snapshot(signed, path)


def test_a_locked_key_asks_for_its_passphrase(tmp_path: Path) -> None:
    """Once; a wrong one, or nobody to ask, is an error."""
    locked = Keys(tmp_path, "locked", b"duck")
    signature = sign_bytes(b"x", locked.private, lambda: "duck")
    (tmp_path / "x.sig").write_bytes(signature)
    verify_bytes(b"x", tmp_path / "x", locked.public)
    for answer in (lambda: "goose", lambda: None):
        with pytest.raises(SignatureError, match="cannot be used"):
            sign_bytes(b"x", locked.private, answer)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_openssl_makes_the_keys_and_agrees(tmp_path: Path) -> None:
    """The commands of docs/data-format.md: keys from openssl, and either side checks what the other signed."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=tmp_path)

    (tmp_path / "kb.json").write_bytes(b"{}")
    openssl("genpkey", "-algorithm", "ed25519", "-out", "key.pem")
    openssl("pkey", "-in", "key.pem", "-pubout", "-out", "key.pub.pem")
    (tmp_path / "kb.json.sig").write_bytes(sign_bytes(b"{}", tmp_path / "key.pem"))
    openssl("pkeyutl", "-verify", "-pubin", "-inkey", "key.pub.pem", "-rawin", "-in", "kb.json", "-sigfile", "kb.json.sig")
    openssl("pkeyutl", "-sign", "-inkey", "key.pem", "-rawin", "-in", "kb.json", "-out", "kb.json.sig")
    verify_bytes(b"{}", tmp_path / "kb.json", tmp_path / "key.pub.pem")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_ssh_keys_will_do(tmp_path: Path) -> None:
    """Both files as ssh-keygen writes them."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"], check=True, capture_output=True, cwd=tmp_path)
    (tmp_path / "kb.json.sig").write_bytes(sign_bytes(b"{}", tmp_path / "key"))
    verify_bytes(b"{}", tmp_path / "kb.json", tmp_path / "key.pub")


def test_without_the_library_it_says_what_to_install(signed: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is an extra; without it nothing passes as signed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(SignatureError, match=r"pip install 'compat-gpu\[sign\]'"):
        open_snapshot(signed, keys.public)
    with pytest.raises(SignatureError, match=r"pip install 'compat-gpu\[sign\]'"):
        sign_bytes(b"x", keys.private)
