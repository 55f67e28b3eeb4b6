"""Configure, start and stop the managed Neo4j."""

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from ecphoria.engine.assemble import JavaRuntime
from ecphoria.engine.home import Home, refused
from ecphoria.errors import EngineError

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
# The local Neo4j is private: no other machine can reach it (docs/howto/engine.md).
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
    """Size heap and page cache: an eighth of the memory each, within bounds, unless set.

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


def choose_ports(*, bolt: int | None, http: int | None, remembered: Ports | None) -> Ports:
    """Choose the given ports, else the last ones if still free, else any two free ones.

    Raises:
        EngineError: a port asked for is in use, or is asked for twice (reason `port-taken`).
    """
    if bolt is not None and bolt == http:
        raise EngineError(
            f"Bolt and HTTP are both set to port {bolt}; choose another for one of them.",
            reason="port-taken",
            port=bolt,
        )
    first = _port(bolt, remembered.bolt if remembered else None, other=http)
    return Ports(
        bolt=first, http=_port(http, remembered.http if remembered else None, other=first)
    )


def _port(asked: int | None, last: int | None, *, other: int | None) -> int:
    """Choose a port; not that of the `other` connector, unless it is asked for."""
    if asked is not None:
        if not _is_free(asked):
            raise EngineError(
                f"Port {asked} is in use by another program; choose another, or leave the setting"
                " empty to take a free one.",
                reason="port-taken",
                port=asked,
            )
        return asked
    if last is not None and last != other and _is_free(last):
        return last
    while True:
        with socket.socket() as probe:
            probe.bind((_LOOPBACK, 0))
            port = int(probe.getsockname()[1])
        if port != other:
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server does: a port in TIME_WAIT is free, one that listens is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_LOOPBACK, port))
        except OSError:
            return False
    return True


def neo4j_conf(ports: Ports, memory: Memory, tx_log_hours: int, more: Mapping[str, str]) -> str:
    """Write neo4j.conf; the procedures of GDS need `unrestricted` to reach the store.

    The settings `more` are added; they cannot replace ours, which keep the server to this machine.

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
        # By default a query is planned anew for each order of magnitude of its lists and texts:
        # up to half a second, whenever a cue has a new number of words or names.
        "internal.cypher.use_parameter_size": "false",
        "browser.remote_content_hostname_whitelist": "*",
    }
    return "".join(f"{key}={value}\n" for key, value in {**more, **settings}.items())


_OPENS = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent", "java.lang")
JAVA_FLAGS = (
    # Without the java.nio opens the population of a vector index stalls without a word.
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENS),
    "--enable-native-access=ALL-UNNAMED",
    "-XX:+UseG1GC",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:+DisableExplicitGC",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djdk.nio.maxCachedBufferSize=1024",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dlog4j2.disable.jmx=true",
    "-Dfile.encoding=UTF-8",
)
_STOP_SECONDS = 60
_PASSWORD_SECONDS = 120
_GONE_SECONDS = 10
# On a full disk Neo4j stops its database and its process goes on, so only the log tells
# (docs/howto/engine.md).
_PANIC = "needs to be restarted"
"""Neo4j prints it for each request after an error that its store cannot survive."""
_TAIL_BYTES = 65_536


def server_command(
    java: JavaRuntime, home: Home, memory: Memory, more: Sequence[str]
) -> list[str]:
    """Write the command line; `--home-dir` in it is how `find_server` knows its own.

    The options `more` come after ours: of two that contradict each other Java heeds the last.
    """
    return [
        str(java.executable),
        *JAVA_FLAGS,
        *(["--add-modules=jdk.incubator.vector"] if java.has_vectors else []),
        f"-Xms{memory.heap_mb // 2}m",
        f"-Xmx{memory.heap_mb}m",
        f"-Djava.io.tmpdir={home.scratch}",
        f"-XX:ErrorFile={home.console.parent}/java-crash-%p.log",
        *more,
        "-cp",
        f"{home.plugins}/*:{home.conf}/*:{home.lib}/*",
        "org.neo4j.server.Neo4jCommunity",
        _identity(home),
        f"--config-dir={home.conf}",
        "--console-mode",
    ]


def _identity(home: Home) -> str:
    return f"--home-dir={home.root}"


def environment(home: Home) -> dict[str, str]:
    """Give the server nothing of ours but its own two places."""
    return {"NEO4J_HOME": str(home.root), "NEO4J_CONF": str(home.conf), "LC_ALL": "C.UTF-8"}


def spawn(command: list[str], *, log: Path, environment: Mapping[str, str]) -> psutil.Process:
    """Start a process that outlives us, in a session of its own, printing into a new file.

    `posix_spawn` rather than `Popen`: the child is meant to be left running, which a `Popen`
    object warns about when it is forgotten.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    pid = os.posix_spawn(
        command[0],
        command,
        environment,
        file_actions=(
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ),
        setsid=True,
        setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGTERM),
        setsigmask=(),
    )
    return psutil.Process(pid)


def spawn_watch(home: Home) -> psutil.Process:
    """Start the process that stops the server once all its users are gone, however they went."""
    command = [sys.executable, "-m", "ecphoria.engine.watch", str(home.root)]
    here = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return spawn(command, log=home.console.with_name("watch.log"), environment=here)


def find_server(pid: int | None, home: Home) -> psutil.Process | None:
    """Find the process if it runs and is the server of this home, not a reuse of its number."""
    if pid is None:
        return None
    try:
        process = psutil.Process(pid)
        if _has_ended(process):
            return None
        return process if _is_server(process, home) else None
    except psutil.Error:
        return None


def require_alone(home: Home) -> None:
    """Refuse to start beside an unknown server of this home.

    Raises:
        EngineError: there is one (reason `store-locked`).
    """
    for process in psutil.process_iter(["cmdline"]):
        # A killed server may still show its command line for a moment.
        if _identity(home) in (process.info["cmdline"] or ()) and not _has_ended(process):
            raise _locked(home, f"process {process.pid}")


def _locked(home: Home, owner: str) -> EngineError:
    return EngineError(
        f"The store under {home.data} is in use by {owner}, which this command does not manage;"
        " end that one, or choose another place with --home.",
        reason="store-locked",
    )


def set_password(java: JavaRuntime, home: Home, password: str) -> None:
    """Set the password of a store that does not exist yet.

    It goes through an argument file, because a command line is there for all to read.

    Raises:
        EngineError: the tool failed (reason `start-failed`).
    """
    arguments = home.scratch / "password.args"
    arguments.touch(mode=0o600)
    try:
        arguments.write_text(f"dbms\nset-initial-password\n{password}\n", encoding="ascii")
        done = subprocess.run(  # noqa: S603 (our own command line)
            [
                str(java.executable),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                f"{home.lib}/*",
                "org.neo4j.cli.AdminTool",
                f"@{arguments}",
            ],
            env=environment(home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PASSWORD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineError(
            f"The password of the new store was not set within {_PASSWORD_SECONDS} s; run the"
            " command again when the machine is less busy.",
            reason="start-timeout",
        ) from error
    finally:
        arguments.unlink(missing_ok=True)
    if done.returncode != 0:
        raise EngineError(
            f"The password of the new store could not be set: {done.stderr.strip()[-400:]}",
            reason="start-failed",
        )


def clear_scratch(home: Home) -> None:
    """Remove the temporary files of a killed Java process."""
    shutil.rmtree(home.scratch, ignore_errors=True)
    home.scratch.mkdir(mode=0o700, parents=True, exist_ok=True)


def tail(log: Path, lines: int) -> list[str]:
    """Read the last lines of a log; none when there is no log."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []


def is_started(home: Home) -> bool:
    """Tell whether the server of this run has said that it takes requests."""
    try:
        with home.console.open(encoding="utf-8", errors="replace") as lines:
            return any(line.endswith("Started.\n") for line in lines)
    except FileNotFoundError:
        return False


def has_panicked(home: Home) -> bool:
    """Tell whether the server of this run has stopped its database after a critical error.

    The process goes on, but it refuses every query, also when the cause, often a full disk, is
    gone. Only a restart helps.
    """
    try:
        with home.console.open("rb") as lines:
            lines.seek(0, os.SEEK_END)
            lines.seek(max(0, lines.tell() - _TAIL_BYTES))
            return _PANIC.encode() in lines.read()
    except FileNotFoundError:
        return False


def wait_started(process: psutil.Process, home: Home, seconds: float) -> bool:
    """Wait until the server says so; false if it ended instead, as one killed before does.

    A slow machine may take long, so only a log that does not grow ends the wait.

    Args:
        process: The server.
        home: Its home, where its log is.
        seconds: Longest time without a new line in the log.

    Raises:
        EngineError: its log stood still for so long (`start-timeout`); the last lines of the log
            are in the message.
    """
    moved, size = time.monotonic(), -1
    while time.monotonic() - moved < seconds:
        with contextlib.suppress(psutil.TimeoutExpired):
            process.wait(timeout=0.1)
        if _has_ended(process):
            return False
        if is_started(home) and _is_server(process, home):
            return True
        grown = home.console.stat().st_size if home.console.exists() else 0
        if grown != size:
            moved, size = time.monotonic(), grown
    last = "\n".join(tail(home.console, 5))
    raise EngineError(
        f"Neo4j did not start: its log stood still for {seconds:.0f} s; raise the start timeout on"
        f" a slow machine. Its last words:\n{last}",
        reason="start-timeout",
    )


def wait_gone(pid: int) -> None:
    """Wait for a killed server's last threads, which hold its store and ports for a moment."""
    deadline = time.monotonic() + _GONE_SECONDS
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        while _is_dying(process) and time.monotonic() < deadline:
            time.sleep(0.02)


def end_of(process: psutil.Process, home: Home) -> EngineError:
    """Explain why a server that was just started ended."""
    with contextlib.suppress(psutil.TimeoutExpired):
        return _explain(process.wait(timeout=0), home)
    return _explain(None, home)


def _explain(status: int | None, home: Home) -> EngineError:
    lines = tail(home.console, 400)
    text = "\n".join(lines)
    last = "\n".join(lines[-5:])
    if "Address already in use" in text:
        return EngineError(
            "Another program took one of Neo4j's ports; run the command again.",
            reason="port-taken",
        )
    if "No space left on device" in text:
        return refused(OSError(errno.ENOSPC, ""), home.data)
    if status == 2 or "FileLockException" in text:
        return _locked(home, "another Neo4j")
    if "Could not reserve enough space" in text or "insufficient memory" in text:
        return EngineError(
            "The machine did not give Neo4j its memory; set heap and page cache lower.",
            reason="not-enough-memory",
        )
    if status == 3:
        return EngineError(
            f"Neo4j refuses its configuration, or heap and page cache are more than the machine"
            f" has; set them lower. Its last words:\n{last}",
            reason="bad-configuration",
        )
    return EngineError(
        f"Neo4j ended at its start (exit code {status}). Its last words:\n{last}",
        reason="start-failed",
    )


def stop(process: psutil.Process) -> None:
    """End the server and wait; by force if it does not end in a minute."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate()
        deadline = time.monotonic() + _STOP_SECONDS
        while not _has_ended(process):
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(0.05)


def _is_server(process: psutil.Process, home: Home) -> bool:
    """Tell whether it is this home's; one that is dying has no command line any more."""
    try:
        return _identity(home) in process.cmdline()
    except psutil.ZombieProcess:
        return False


def _is_dying(process: psutil.Process) -> bool:
    """Tell whether it was killed, and threads of it are still there."""
    try:
        return not process.cmdline() and not _has_ended(process)
    except psutil.ZombieProcess:
        return not _has_ended(process)


def _has_ended(process: psutil.Process) -> bool:
    """Tell whether the process has ended, a zombie included."""
    try:
        if process.status() != psutil.STATUS_ZOMBIE:
            return not process.is_running()
        with contextlib.suppress(psutil.TimeoutExpired):
            process.wait(timeout=0)  # collects it if it is our own child
        return process.num_threads() <= 1  # its first thread may be dead before the others
    except psutil.NoSuchProcess:
        return True
