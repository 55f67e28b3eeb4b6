import errno
import itertools
import os
from pathlib import Path

import pytest

from ecphoria.engine.assemble import Progress, Report, Stage, assemble, is_assembled, silent
from ecphoria.engine.home import Home, JarLock
from ecphoria.errors import EngineError
from tests.unit.engine.doubles import Repository, jar_content, make_lock

LOCK = make_lock("neo4j", "lucene", "gds-proc")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.create()
    return made


def put_together(
    home: Home, repository: Repository, lock: JarLock = LOCK, report: Report = silent
) -> None:
    """Assemble, with a clock that goes on by a second each time it is read."""
    now = itertools.count()
    assemble(
        lock,
        home=home,
        cache=home.root.parent / "cache",
        fetch=repository.fetch,
        report=report,
        clock=lambda: float(next(now)),
    )


def cached(home: Home, name: str) -> Path:
    jar = next(jar for jar in LOCK.jars if jar.artifact == name)
    return home.root.parent / "cache" / "engine" / "repository" / jar.path


def test_every_jar_lands_in_its_folder(home: Home) -> None:
    put_together(home, Repository())
    assert {path.name for path in home.lib.iterdir()} == {"neo4j-1.0.jar", "lucene-1.0.jar"}
    assert [path.read_bytes() for path in home.plugins.iterdir()] == [jar_content("gds-proc")]
    assert is_assembled(LOCK, home)


def test_a_second_home_links_the_cached_jars(home: Home) -> None:
    repository = Repository()
    put_together(home, repository)
    other = Home(home.root.with_name("other"))
    other.create()
    put_together(other, repository)
    assert sorted(repository.asked) == ["gds-proc", "lucene", "neo4j"]
    assert (other.lib / "neo4j-1.0.jar").samefile(home.lib / "neo4j-1.0.jar")


def test_jars_are_copied_where_links_are_refused(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    put_together(home, Repository())
    copied = home.lib / "neo4j-1.0.jar"
    assert copied.read_bytes() == jar_content("neo4j")
    # An archive of classes is good for jars of the same time only.
    assert copied.stat().st_mtime == cached(home, "neo4j").stat().st_mtime


def test_a_broken_off_assembly_is_resumed(home: Home) -> None:
    repository = Repository()
    repository.failing["lucene"] = EngineError("no answer", reason="no-network")
    with pytest.raises(EngineError, match="no answer"):
        put_together(home, repository)
    assert not is_assembled(LOCK, home)
    # A download that was cut off leaves the beginning of a file.
    neo4j = cached(home, "neo4j")
    neo4j.parent.mkdir(parents=True, exist_ok=True)
    neo4j.write_bytes(jar_content("neo4j")[:5])
    repository.failing.clear()
    put_together(home, repository)
    assert is_assembled(LOCK, home)
    assert (home.lib / "neo4j-1.0.jar").read_bytes() == jar_content("neo4j")


def test_an_unfinished_copy_in_the_home_is_replaced(home: Home) -> None:
    (home.lib / "neo4j-1.0.jar").write_bytes(b"half")
    put_together(home, Repository())
    assert (home.lib / "neo4j-1.0.jar").read_bytes() == jar_content("neo4j")


def test_jars_of_another_version_are_removed(home: Home) -> None:
    put_together(home, Repository())
    newer = make_lock("neo4j", "gds-proc", "gds-more")
    put_together(home, Repository(), newer)
    assert [path.name for path in home.lib.iterdir()] == ["neo4j-1.0.jar"]
    assert is_assembled(newer, home)
    assert not is_assembled(LOCK, home)


def test_an_altered_jar_is_refused_and_not_kept(home: Home) -> None:
    repository = Repository()
    repository.altered.add("gds-proc")
    with pytest.raises(EngineError, match="SHA-256") as caught:
        put_together(home, repository)
    assert caught.value.fields["reason"] == "hash-mismatch"
    assert caught.value.fields["jar"] == "org.example:gds-proc:1.0"
    assert repository.asked.count("gds-proc") == 2
    assert not cached(home, "gds-proc").exists()
    assert list(home.plugins.iterdir()) == []


def test_a_jar_that_vanished_from_the_home_is_put_back(home: Home) -> None:
    put_together(home, Repository())
    (home.lib / "neo4j-1.0.jar").unlink()
    assert not is_assembled(LOCK, home)
    put_together(home, Repository())
    assert is_assembled(LOCK, home)


def test_too_little_space_is_told_before_anything_is_fetched(home: Home) -> None:
    repository = Repository()
    huge = make_lock("neo4j")
    huge = JarLock(
        neo4j=huge.neo4j, gds=huge.gds, total_bytes=2**62, jars=huge.jars, digest="huge"
    )
    with pytest.raises(EngineError, match="free some space") as caught:
        put_together(home, repository, huge)
    assert caught.value.fields["reason"] == "disk-full"
    assert repository.asked == []


def test_a_disk_that_fills_up_meanwhile_is_told(home: Home) -> None:
    repository = Repository()
    repository.failing["neo4j"] = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(EngineError) as caught:
        put_together(home, repository)
    assert caught.value.fields["reason"] == "disk-full"


def test_progress_counts_bytes_and_tells_the_time_left(home: Home) -> None:
    seen: list[Progress] = []
    put_together(home, Repository(), report=seen.append)
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert seen[-1] == Progress(
        stage=Stage.FETCH, done=LOCK.total_bytes, total=LOCK.total_bytes, eta=0.0
    )
    first = seen[0]
    assert first.eta == pytest.approx((first.total - first.done) / first.done)


def test_files_that_are_all_there_are_checked_and_not_fetched(home: Home) -> None:
    put_together(home, Repository())
    seen: list[Progress] = []
    put_together(home, Repository(), report=seen.append)
    assert {step.stage for step in seen} == {Stage.CHECK}
    assert seen[-1].done == LOCK.total_bytes
