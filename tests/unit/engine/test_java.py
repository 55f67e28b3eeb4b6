from pathlib import Path

import pytest

from ecphoria.engine.assemble import find_java
from ecphoria.errors import EngineError
from tests.unit.engine.doubles import write_java


def test_without_a_setting_the_bundled_runtime_is_taken() -> None:
    assert find_java(None).major >= 21


def test_a_setting_may_name_the_executable_or_the_java_home(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    executable = write_java(tmp_path / "bin" / "java", version="25-ea")
    assert find_java(executable).major == 25
    assert find_java(tmp_path).executable == executable


@pytest.mark.parametrize("version", ["17.0.15", "1.8.0_402"])
def test_an_old_java_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(EngineError, match="needs 21") as caught:
        find_java(write_java(tmp_path / "java", version=version))
    assert caught.value.fields["reason"] == "wrong-java"


def test_what_is_no_java_is_refused(tmp_path: Path) -> None:
    for path in (Path("/bin/true"), tmp_path / "absent"):
        with pytest.raises(EngineError) as caught:
            find_java(path)
        assert caught.value.fields["reason"] == "wrong-java"
