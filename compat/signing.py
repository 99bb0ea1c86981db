"""Detached Ed25519 signatures of snapshots.

A signature is the 64 bytes of RFC 8032 over the bytes of the file, in ``FILE.sig``, so that ``openssl pkeyutl`` makes and checks the
same. Keys are the user's: PEM as ``openssl genpkey`` writes it, or OpenSSH as ``ssh-keygen -t ed25519`` does. The cryptography is that
of the package ``cryptography``, which only signing and verifying need.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from compat.errors import InputError, printable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["SignatureError", "read_bytes", "sign_bytes", "signature_path", "verify_bytes"]

_MAX_KEY = 64 * 1024
_LENGTH = 64


class SignatureError(InputError):
    """A signature that is missing, wrong, or cannot be made or checked."""


def signature_path(path: Path) -> Path:
    """Where the signature of a file lies: beside it, with ``.sig`` added."""
    return path.with_name(f"{path.name}.sig")


def read_bytes(path: Path, most: int, what: str) -> bytes:
    """Read a whole file.

    Raises:
        InputError: if it cannot be read or has more than *most* bytes.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        raise InputError(f"cannot read the {what} {printable(path, 200)}: {error.strerror or error}") from error
    if len(content) > most:
        raise InputError(f"the {what} {printable(path, 200)} is larger than {most:,} bytes, the most that is read")
    return content


def sign_bytes(content: bytes, key: Path, passphrase: Callable[[], str | None] = lambda: None) -> bytes:
    """Return the signature of *content* with the private key in the file *key*.

    Args:
        content: what is signed.
        key: PEM or OpenSSH file with an Ed25519 private key.
        passphrase: asked only if the key is encrypted.

    Raises:
        SignatureError: if the key cannot be used.
    """
    return _private(key, passphrase).sign(content)


def verify_bytes(content: bytes, path: Path, key: Path, signature: Path | None = None) -> None:
    """Check *content*, read from *path*, against the signature beside it (or in *signature*) and the public key in *key*.

    Raises:
        SignatureError: if the signature is missing, unreadable or not one of this key over these bytes.
    """
    public = _public(key)
    place = signature or signature_path(path)
    shown, signed = printable(path, 200), printable(place, 200)
    try:
        found = read_bytes(place, _LENGTH, "signature")
    except InputError as error:
        raise SignatureError(f"{shown} is not used: {error}; expected a signature by `compat kb sign`") from error
    if len(found) != _LENGTH:
        raise SignatureError(f"{shown} is not used: {signed} has {len(found)} bytes; an Ed25519 signature has {_LENGTH}")
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(found, content)
    except InvalidSignature as error:
        raise SignatureError(
            f"{shown} is not used: {signed} is no signature of these bytes by {printable(key, 200)}; the file was changed, or another key signed it"
        ) from error


def _needs_library() -> SignatureError:
    return SignatureError("signatures need the package cryptography: pip install 'compat-gpu[sign]'")


def _private(path: Path, passphrase: Callable[[], str | None]) -> Ed25519PrivateKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise _needs_library() from error
    text = read_bytes(path, _MAX_KEY, "key")
    load = serialization.load_ssh_private_key if b"OPENSSH PRIVATE KEY" in text else serialization.load_pem_private_key
    secret: bytes | None = None
    for attempt in (1, 2):
        try:
            key = load(text, secret)
        except (TypeError, ValueError, UnsupportedAlgorithm) as error:
            locked = "password" in str(error).lower() or "encrypted" in str(error).lower()
            given = passphrase() if attempt == 1 and locked and secret is None else None
            if given is None:
                raise SignatureError(f"the key {printable(path, 200)} cannot be used: {printable(error, 160)}; expected an Ed25519 private key") from error
            secret = given.encode()
            continue
        if isinstance(key, Ed25519PrivateKey):
            return key
        break
    raise SignatureError(f"the key {printable(path, 200)} is no Ed25519 key; make one with `openssl genpkey -algorithm ed25519` or `ssh-keygen -t ed25519`")


def _public(path: Path) -> Ed25519PublicKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise _needs_library() from error
    text = read_bytes(path, _MAX_KEY, "public key")
    load = serialization.load_pem_public_key if text.lstrip().startswith(b"-----") else serialization.load_ssh_public_key
    try:
        key = load(text)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        what = "it holds a private key; give the public one" if b"PRIVATE KEY" in text else printable(error, 160)
        raise SignatureError(f"the public key {printable(path, 200)} cannot be used: {what}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise SignatureError(f"the public key {printable(path, 200)} is no Ed25519 key")
    return key
