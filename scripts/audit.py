"""Look for known vulnerabilities of the dependencies, with pip-audit and the advisories of PyPI.

`python -m scripts.audit`, or `make audit`. Ends with 1 if there is one. Where the package index
has no advisories, as some mirrors, it says so and ends with 0.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

LOCKED = Path(__file__).parents[1] / "constraints.txt"


def main(command: Sequence[str]) -> int:
    """Run pip-audit, which `command` starts, over the locked versions."""
    done = subprocess.run(  # noqa: S603 (our own command line)
        [*command, "-r", str(LOCKED), "--no-deps", "--disable-pip", "-f", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout.strip():
        sys.stderr.write(done.stderr)
        return done.returncode or 1
    audited, skipped, faults = sort(json.loads(done.stdout)["dependencies"])
    for line in faults:
        print(line)
    if not audited:
        print("This package index has no advisories; nothing was audited.")
        return 0
    if skipped:
        print(f"no advisories for {len(skipped)}: {', '.join(skipped)}")
    print(f"{len(audited)} packages audited, {len(faults)} known vulnerabilities")
    return 1 if faults else 0


def sort(dependencies: Sequence[dict[str, object]]) -> tuple[list[str], list[str], list[str]]:
    """Name the packages with advisories, those without, and every vulnerability with its fix."""
    audited, skipped, faults = [], [], []
    for one in dependencies:
        name = str(one["name"])
        if "skip_reason" in one:
            skipped.append(name)
            continue
        audited.append(name)
        found = one["vulns"]
        assert isinstance(found, list)
        for fault in found:
            fixed = ", ".join(fault["fix_versions"]) or "none yet"
            faults.append(f"{name} {one['version']}: {fault['id']}, fixed in {fixed}")
    return audited, skipped, faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
