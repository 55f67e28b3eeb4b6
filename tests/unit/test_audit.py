"""The audit of dependencies: known vulnerabilities fail it, missing advisories are told."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts.audit import main


def command(tmp_path: Path, *dependencies: Mapping[str, object]) -> list[str]:
    """Make a program that answers as pip-audit does."""
    program = tmp_path / "pip_audit.py"
    program.write_text(f"print({json.dumps({'dependencies': dependencies})!r})")
    return [sys.executable, str(program)]


SOUND = {"name": "sound", "version": "1.0", "vulns": []}
FAULTY = {
    "name": "faulty",
    "version": "2.0",
    "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["2.1"]}],
}
UNKNOWN = {"name": "unknown", "skip_reason": "not found"}


def test_a_vulnerability_fails_it_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path, SOUND, FAULTY)) == 1
    told = capsys.readouterr().out
    assert "faulty 2.0: PYSEC-2026-1, fixed in 2.1" in told
    assert "2 packages audited, 1 known vulnerabilities" in told


def test_missing_advisories_are_told_and_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path, SOUND, UNKNOWN)) == 0
    told = capsys.readouterr().out
    assert "no advisories for 1: unknown" in told
    assert "1 packages audited, 0 known vulnerabilities" in told


def test_an_index_without_advisories_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path, UNKNOWN)) == 0
    assert "nothing was audited" in capsys.readouterr().out


def test_an_audit_that_did_not_run_fails(tmp_path: Path) -> None:
    assert main([sys.executable, "-c", "raise SystemExit('no network')"]) == 1
