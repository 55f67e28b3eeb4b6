"""The reference of the command line is what the commands say of themselves."""

from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_reference_is_fresh() -> None:
    script = ROOT / "scripts" / "generate_cli_reference.py"
    namespace: dict[str, object] = {"__file__": str(script), "__name__": "generator"}
    exec(compile(script.read_text(encoding="utf-8"), script, "exec"), namespace)  # noqa: S102
    generate = namespace["generate"]
    assert callable(generate)
    written = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert generate() == written, "run: python scripts/generate_cli_reference.py"
