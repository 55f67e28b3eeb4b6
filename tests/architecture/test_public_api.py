"""What `import ecphoria` gives, and what it must not cost."""

import subprocess
import sys
from pathlib import Path

import pytest

import ecphoria
import ecphoria.client

PACKAGE = Path(ecphoria.__file__).parent
HEAVY = ("neo4j", "fastapi", "numpy", "scipy", "torch", "onnxruntime", "pydantic_settings")


def _loaded_by(statement: str) -> list[str]:
    code = f"import sys\n{statement}\nprint(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def test_every_public_name_is_there() -> None:
    assert ecphoria.__all__ == sorted(ecphoria.__all__)
    for name in ecphoria.__all__:
        assert getattr(ecphoria, name).__name__ == name
    assert set(ecphoria.__all__) <= set(dir(ecphoria))


def test_type_checkers_see_the_same_names() -> None:
    source = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    for name in ecphoria.__all__:
        assert source.count(name) >= 3, f"{name}: import for type checkers, __all__, home"


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Neo4j'"):
        _ = ecphoria.Neo4j


@pytest.mark.parametrize(
    "statement",
    ["import ecphoria", "from ecphoria import AsyncClient, Client", "import ecphoria.cli.main"],
)
def test_the_light_install_stays_light(statement: str) -> None:
    assert _loaded_by(statement) == []


def test_the_generated_client_is_fresh() -> None:
    script = PACKAGE.parents[1] / "scripts" / "generate_sync_client.py"
    namespace: dict[str, object] = {"__file__": str(script), "__name__": "generator"}
    exec(compile(script.read_text(encoding="utf-8"), script, "exec"), namespace)  # noqa: S102
    generate, twins = namespace["generate"], namespace["TWINS"]
    assert callable(generate)
    assert isinstance(twins, dict)
    modules = (PACKAGE / "client").glob("async_*.py")
    assert {one.name for one in twins} == {one.name for one in modules}
    for source, twin in twins.items():
        written = twin.read_text(encoding="utf-8")
        assert generate(source) == written, "run: python scripts/generate_sync_client.py"
