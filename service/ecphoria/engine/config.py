"""The server's configuration: memory sized for the machine, loopback ports, nothing exposed."""

import contextlib
import socket
from dataclasses import dataclass
from pathlib import Path

import psutil

from ecphoria.errors import EngineError

__all__ = ["Memory", "Ports", "choose_ports", "machine_megabytes", "neo4j_conf", "size_memory"]

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Megabytes for Java objects and for pages of the store."""

    heap_mb: int
    page_cache_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Loopback ports of the two connectors."""

    bolt: int
    http: int


def machine_megabytes() -> int:
    """Read the memory this process may use: the machine's, or its container's limit."""
    total = int(psutil.virtual_memory().total)
    with contextlib.suppress(OSError, ValueError):  # no cgroup v2, or "max"
        total = min(total, int(_CGROUP_LIMIT.read_text(encoding="ascii")))
    return total // 2**20


def size_memory(machine_mb: int, *, heap_mb: int | None, page_cache_mb: int | None) -> Memory:
    """Give heap and page cache an eighth of the machine each, within bounds, unless told.

    An eighth each leaves room for the encoder and for whatever else the machine does; the
    server itself takes some 400 MB above the two.

    Raises:
        EngineError: the two are more than the machine has (reason `not-enough-memory`).
    """
    share = machine_mb // 8
    memory = Memory(
        heap_mb=heap_mb or min(max(share, 512), 4096),
        page_cache_mb=page_cache_mb or min(max(share, 128), 4096),
    )
    needed = memory.heap_mb + memory.page_cache_mb
    if needed > machine_mb:
        raise EngineError(
            f"Heap ({memory.heap_mb} MB) and page cache ({memory.page_cache_mb} MB) are more than"
            f" the {machine_mb} MB of this machine; set both lower.",
            reason="not-enough-memory",
            needed_mb=needed,
            machine_mb=machine_mb,
        )
    return memory


def choose_ports(
    *, bolt: int | None, http: int | None, remembered: Ports | None, avoid: Ports | None = None
) -> Ports:
    """Take the ports asked for, else the last ones if still free, else any two free ones.

    Raises:
        EngineError: a port asked for is in use (reason `port-taken`).
    """
    last = remembered if remembered != avoid else None
    return Ports(
        bolt=_port(bolt, last.bolt if last else None),
        http=_port(http, last.http if last else None),
    )


def _port(asked: int | None, last: int | None) -> int:
    if asked is not None:
        if not _is_free(asked):
            raise EngineError(
                f"Port {asked} is in use by another program; choose another, or leave the setting"
                " empty to take a free one.",
                reason="port-taken",
                port=asked,
            )
        return asked
    if last is not None and _is_free(last):
        return last
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server does: a port in TIME_WAIT is free, one that listens is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_LOOPBACK, port))
        except OSError:
            return False
    return True


def neo4j_conf(ports: Ports, memory: Memory, tx_log_hours: int) -> str:
    """Write neo4j.conf; the procedures of GDS need `unrestricted` to reach the store.

    Transaction logs that are older than `tx_log_hours`, or above 512 MB in all, are deleted.

    Without the quiet period of zero every stop waits ten seconds for connections to come.
    """
    settings = {
        "server.default_listen_address": _LOOPBACK,
        "server.bolt.listen_address": f"{_LOOPBACK}:{ports.bolt}",
        "server.bolt.advertised_address": f"{_LOOPBACK}:{ports.bolt}",
        "server.http.listen_address": f"{_LOOPBACK}:{ports.http}",
        "server.http.advertised_address": f"{_LOOPBACK}:{ports.http}",
        "server.https.enabled": "false",
        "server.memory.pagecache.size": f"{memory.page_cache_mb}m",
        "server.memory.heap.max_size": f"{memory.heap_mb}m",
        "dbms.security.procedures.unrestricted": "gds.*",
        "dbms.usage_report.enabled": "false",
        "db.tx_log.rotation.size": "64M",
        "db.tx_log.rotation.retention_policy": f"{tx_log_hours} hours 512M",
        "db.transaction.timeout": "10m",
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
        # By default an index that grows is sampled again whenever it grew by a twentieth.
        "db.index_sampling.update_percentage": "100",
        "browser.remote_content_hostname_whitelist": "*",
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())
