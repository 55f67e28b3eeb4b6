import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ecphoria.engine.assemble import JavaRuntime
from ecphoria.engine.home import Home
from ecphoria.engine.process import (
    Memory,
    Ports,
    choose_ports,
    machine_megabytes,
    neo4j_conf,
    server_command,
    size_memory,
)
from ecphoria.errors import EngineError


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield int(listener.getsockname()[1])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("machine", "heap", "pages"), [(2048, 512, 256), (16_384, 2048, 2048), (262_144, 4096, 4096)]
)
def test_memory_follows_the_machine_within_bounds(machine: int, heap: int, pages: int) -> None:
    memory = size_memory(machine, heap_mb=None, page_cache_mb=None)
    assert memory == Memory(heap_mb=heap, page_cache_mb=pages)


def test_a_setting_wins_over_the_machine() -> None:
    memory = size_memory(16_384, heap_mb=700, page_cache_mb=None)
    assert memory == Memory(heap_mb=700, page_cache_mb=2048)


def test_more_than_the_machine_has_is_refused() -> None:
    with pytest.raises(EngineError, match="8192 MB") as caught:
        size_memory(8192, heap_mb=7000, page_cache_mb=2000)
    assert caught.value.fields["reason"] == "not-enough-memory"


def test_this_machine_has_memory() -> None:
    assert machine_megabytes() > 256


def test_ports_are_free_ones_without_a_wish() -> None:
    ports = choose_ports(bolt=None, http=None, remembered=None)
    for port in (ports.bolt, ports.http):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))


def test_the_last_ports_are_taken_again_if_still_free(taken: int) -> None:
    last = Ports(bolt=free_port(), http=taken)
    ports = choose_ports(bolt=None, http=None, remembered=last)
    assert ports.bolt == last.bolt
    assert ports.http != taken


def test_no_port_is_given_to_both_connectors() -> None:
    one = free_port()
    bolt = choose_ports(bolt=one, http=None, remembered=Ports(bolt=free_port(), http=one))
    assert bolt.bolt == one != bolt.http
    http = choose_ports(bolt=None, http=one, remembered=Ports(bolt=one, http=free_port()))
    assert http.http == one != http.bolt
    with pytest.raises(EngineError, match=f"both set to port {one}"):
        choose_ports(bolt=one, http=one, remembered=None)


def test_a_port_asked_for_must_be_free(taken: int) -> None:
    with pytest.raises(EngineError, match=str(taken)) as caught:
        choose_ports(bolt=taken, http=None, remembered=None)
    assert caught.value.fields["reason"] == "port-taken"


def test_the_server_listens_on_loopback_only() -> None:
    more = {"server.default_listen_address": "192.0.2.1", "db.checkpoint": "volume"}
    memory = Memory(heap_mb=512, page_cache_mb=256)
    conf = neo4j_conf(Ports(bolt=1111, http=2222), memory, 12, more)
    assert "db.checkpoint=volume\n" in conf
    assert "192.0.2.1" not in conf
    settings = dict(line.split("=", 1) for line in conf.splitlines())
    listens = {key: value for key, value in settings.items() if key.endswith("listen_address")}
    assert listens == {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.listen_address": "127.0.0.1:1111",
        "server.http.listen_address": "127.0.0.1:2222",
    }
    assert settings["server.memory.pagecache.size"] == "256m"
    assert settings["db.tx_log.rotation.retention_policy"] == "12 hours 512M"


def test_options_of_the_user_come_after_ours_and_before_the_program(tmp_path: Path) -> None:
    java = JavaRuntime(executable=tmp_path / "java", major=25)
    memory = Memory(heap_mb=512, page_cache_mb=256)
    command = server_command(java, Home(tmp_path), memory, ["-Xss1m", "-Xmx1g"])
    given = command.index("-Xss1m")
    assert command[given + 1] == "-Xmx1g"
    assert command.index("-Xmx512m") < given < command.index("-cp")


@pytest.mark.parametrize("has_vectors", [False, True])
def test_neo4j_compares_vectors_by_the_module_of_a_java_that_has_it(
    tmp_path: Path, has_vectors: bool
) -> None:
    java = JavaRuntime(executable=tmp_path / "java", major=25, has_vectors=has_vectors)
    command = server_command(java, Home(tmp_path), Memory(heap_mb=512, page_cache_mb=256), [])
    assert ("--add-modules=jdk.incubator.vector" in command) is has_vectors
