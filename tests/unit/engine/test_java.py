from pathlib import Path

import pytest

from ecphoria.engine.assemble import find_java
from ecphoria.errors import EngineError
from tests.unit.engine.doubles import write_java


def test_without_a_setting_the_bundled_runtime_is_taken() -> None:
    assert find_java(None).major >= 21


def test_a_setting_may_name_the_executable_or_the_java_home(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    executable = write_java(tmp_path / "bin" / "java", modules="java.base@25-ea")
    assert find_java(executable).major == 25
    assert find_java(tmp_path).executable == executable


@pytest.mark.parametrize(
    ("modules", "told"), [("java.base@17.0.15", "is Java 17"), ("", "is no Java with modules")]
)
def test_an_old_java_is_refused(tmp_path: Path, modules: str, told: str) -> None:
    with pytest.raises(EngineError, match=f"{told}; Neo4j needs 21") as caught:
        find_java(write_java(tmp_path / "java", modules=modules))
    assert caught.value.fields["reason"] == "wrong-java"


def test_a_java_that_has_the_module_for_vectors_is_known(tmp_path: Path) -> None:
    assert not find_java(None).has_vectors
    modules = "java.base@25.0.3 jdk.incubator.vector@25.0.3"
    assert find_java(write_java(tmp_path / "java", modules=modules)).has_vectors


def test_what_is_no_java_is_refused(tmp_path: Path) -> None:
    for path in (Path("/bin/true"), tmp_path / "absent"):
        with pytest.raises(EngineError) as caught:
            find_java(path)
        assert caught.value.fields["reason"] == "wrong-java"
