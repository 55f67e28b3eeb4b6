"""Make the explorer's vendored module: preact, signals and htm in one file, from npm.

`python -m scripts.vendor_explorer` writes `vendor.js`, `LICENSES.txt` and `vendor.lock`; it needs
node and npm. With `--check` it makes them anew in a temporary place and compares the bytes. With
`--offline`, which needs neither, it only compares the files with the sums of the lock.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent.parent / "service/ecphoria/http/explorer/page"
PACKAGES = {
    "preact": "11.2.0",
    "@preact/signals": "2.11.4",
    "@preact/signals-core": "1.14.5",
    "htm": "3.1.1",
}
BUNDLER = {"esbuild": "0.28.2"}
ENTRY = """\
export { render } from "preact";
export { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
export { signal } from "@preact/signals";
import { h } from "preact";
import htm from "htm";
export const html = htm.bind(h);
"""
BANNER = (
    "// @ts-nocheck\n"  # tsc reads what it exports
    "/* preact, @preact/signals, htm: see LICENSES.txt. Made by scripts/vendor_explorer.py. */"
)
_MADE = ("vendor.js", "LICENSES.txt")


def main() -> None:
    """Make the files, or compare them."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--check", action="store_true", help="compare, and write nothing")
    asked.add_argument("--offline", action="store_true", help="compare with the lock only")
    given = asked.parse_args()
    if wrong := changed(PAGE) if given.offline else _made(PAGE, write=not given.check):
        other = "the lock" if given.offline else "what npm gives"
        sys.exit(f"These differ from {other}: {', '.join(wrong)}. Run this without an option.")


def changed(page: Path) -> list[str]:
    """Name the files that are not as the lock says."""
    sums = json.loads((page / "vendor.lock").read_text(encoding="utf-8"))["sha256"]
    return [name for name in _MADE if _sum((page / name).read_bytes()) != sums[name]]


def _made(page: Path, *, write: bool) -> list[str]:
    """Make all files; write them, or name those that differ."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        integrity = {name: _fetch(folder, name, of) for name, of in (PACKAGES | BUNDLER).items()}
        made = {"vendor.js": _bundle(folder), "LICENSES.txt": _licences(folder)}
    lock = {
        "packages": PACKAGES | BUNDLER,
        "integrity": integrity,
        "sha256": {name: _sum(content) for name, content in made.items()},
    }
    made["vendor.lock"] = (json.dumps(lock, indent=2) + "\n").encode()
    if not write:
        return [name for name, content in made.items() if (page / name).read_bytes() != content]
    for name, content in made.items():
        (page / name).write_bytes(content)
    return []


def _fetch(folder: Path, name: str, of: str) -> str:
    """Unpack a package under node_modules, and give npm's sum of it."""
    told = _run(folder, "npm", "pack", "--json", f"{name}@{of}")
    packed = json.loads(told)
    about = packed[0] if isinstance(packed, list) else next(iter(packed.values()))
    target = folder / "node_modules" / name
    with tarfile.open(folder / about["filename"]) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder / "unpacked" / "package", target)
    return str(about["integrity"])


def _bundle(folder: Path) -> bytes:
    """Join the packages into one module."""
    (folder / "entry.js").write_text(ENTRY, encoding="utf-8")
    # The binary for this machine is a package of its own, which the set-up of esbuild fetches.
    _run(folder / "node_modules/esbuild", "node", "install.js")
    options = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none")
    esbuild = "node_modules/esbuild/bin/esbuild"
    _run(folder, esbuild, "entry.js", *options, f"--banner:js={BANNER}", "--outfile=vendor.js")
    return (folder / "vendor.js").read_bytes()


def _licences(folder: Path) -> bytes:
    """Join the licences of what is in the bundle."""
    parts = []
    for name, of in PACKAGES.items():
        text = (folder / "node_modules" / name / "LICENSE").read_text(encoding="utf-8")
        parts.append(f"{name} {of}\n\n{text.strip()}\n")
    return ("\n" + "-" * 70 + "\n\n").join(parts).encode()


def _run(folder: Path, *command: str) -> str:
    # Words of the registry go to stderr and stay there.
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
