import pytest

from ecphoria.engine.home import packaged_lock, parse_lock
from ecphoria.errors import EngineError

HEADER = "# neo4j 2026.01.4\n# gds 2.26.0\n# bytes 10\n"
HASH = "0" * 64


def test_reads_coordinates_hash_and_folder() -> None:
    lock = parse_lock(f"{HEADER}io.netty:epoll:4.2:linux-x86_64 {HASH} lib\n")
    (jar,) = lock.jars
    assert jar.coordinate == "io.netty:epoll:4.2:linux-x86_64"
    assert str(jar.path) == "io/netty/epoll/4.2/epoll-4.2-linux-x86_64.jar"
    assert (jar.sha256, jar.folder, lock.total_bytes) == (HASH, "lib", 10)


@pytest.mark.parametrize(
    "line",
    ["org.x:y:1 abc lib", f"org.x:y {HASH} lib", f"org.x:y:1 {HASH} bin", "", "../x:y:1 z lib"],
)
def test_refuses_a_line_it_does_not_understand(line: str) -> None:
    with pytest.raises(EngineError, match="line 4") as caught:
        parse_lock(f"{HEADER}{line}\n")
    assert caught.value.fields["reason"] == "bad-lock"


def test_refuses_a_lock_without_its_headers() -> None:
    with pytest.raises(EngineError, match="bytes, gds"):
        parse_lock("# neo4j 2026.01.4\n")


def test_the_digest_follows_the_content() -> None:
    one = parse_lock(f"{HEADER}a:b:1 {HASH} lib\n")
    two = parse_lock(f"{HEADER}a:b:2 {HASH} lib\n")
    assert one.digest != two.digest


def test_the_packaged_lock_is_one_server_with_gds_alone_among_the_plugins() -> None:
    lock = packaged_lock()
    assert {jar.group for jar in lock.jars if jar.folder == "plugins"} == {"org.neo4j.gds"}
    assert not any(j.group == "org.neo4j.gds" for j in lock.jars if j.folder == "lib")
    versions = {jar.artifact: jar.version for jar in lock.jars}
    assert (versions["neo4j"], versions["proc"]) == (lock.neo4j, lock.gds)
    places = [(jar.folder, jar.filename) for jar in lock.jars]
    assert len(set(places)) == len(places)
