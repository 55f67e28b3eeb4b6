"""What `import ecphoria` gives, and what it must not cost."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import ecphoria
from ecphoria import AsyncClient, Client
from scripts.generate_sync_client import refresh

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


def test_a_memory_without_the_service_tells_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith(("ecphoria.memory", "uvicorn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ecphoria.http.app", None)
    with pytest.raises(ImportError, match=r"\[server,local\]"):
        _ = ecphoria.Memory


@pytest.mark.parametrize(
    "statement",
    ["import ecphoria", "from ecphoria import AsyncClient, Client", "import ecphoria.cli.main"],
)
def test_the_light_install_stays_light(statement: str) -> None:
    assert _loaded_by(statement) == []


def test_every_asynchronous_method_has_a_synchronous_twin() -> None:
    def methods(client: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in inspect.getmembers(client, inspect.isfunction)
            if not name.startswith("_")
        }

    expected = methods(AsyncClient)
    expected["close"] = expected.pop("aclose")
    assert methods(Client) == expected
    for name in expected:
        assert not inspect.iscoroutinefunction(getattr(Client, name))
    client, twin = AsyncClient("http://memory.test"), Client("http://memory.test")
    for namespace in (name for name in vars(client) if not name.startswith("_")):
        expected = methods(type(getattr(client, namespace)))
        assert expected
        assert methods(type(getattr(twin, namespace))) == expected


def test_a_change_of_the_asynchronous_client_reaches_its_twin(tmp_path: Path) -> None:
    source, twin = tmp_path / "async_echo.py", tmp_path / "sync_echo.py"
    left_over = tmp_path / "sync_former.py"
    left_over.touch()
    source.write_text(
        "async def hear(sound: AsyncSound) -> str:\n    return await sound.heard()\n"
    )
    refresh(tmp_path)
    assert not left_over.exists()
    header, *lines = twin.read_text().splitlines()
    assert (
        header
        == "# Generated from async_echo.py by scripts/generate_sync_client.py; edit that one."
    )
    assert lines == ["def hear(sound: Sound) -> str:", "    return sound.heard()"]
    written = twin.stat().st_mtime_ns
    refresh(tmp_path)
    assert twin.stat().st_mtime_ns == written
    source.write_text("async def cry() -> None: ...\n")
    refresh(tmp_path)
    assert twin.read_text().endswith("\ndef cry() -> None: ...\n")
