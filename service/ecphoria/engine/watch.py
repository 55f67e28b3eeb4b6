"""Stop an unused server, from a process of its own.

The engine runs `python -m ecphoria.engine.watch HOME`. Every user holds a shared lock on one file.
The system frees a lock when its process ends, even by SIGKILL. So an exclusive lock on the file
is granted when the last user is gone.
"""

import sys
import time
from pathlib import Path

from ecphoria.engine.home import Home, held, held_if_free
from ecphoria.engine.process import find_server, stop

_LOOKS, _LOOK_AGAIN_S = 4, 0.05


def stop_if_unused(home: Home) -> bool:
    """Stop a server that is neither kept nor used, and tell whether the matter is settled."""
    # The system releases the lock of a killed user, so a server never outlives its last user by
    # mistake (docs/howto/engine.md).
    with held(home.lock), held_if_free(home.users) as unused:
        if not unused:
            return False
        state = home.read_state()
        if state is None or state.keep:
            return True
        if server := find_server(state.pid, home):
            stop(server)
        home.write_state(state.stopped())
        return True


def leave(home: Home) -> None:
    """Stop the server if its last user leaves; another user stops it, or the watcher does."""
    for _ in range(_LOOKS):
        if stop_if_unused(home):
            return
        # For an instant the watcher holds the users' lock itself, which looks like a user.
        time.sleep(_LOOK_AGAIN_S)


def watch(home: Home) -> None:
    """Wait until the server has no users, then stop it."""
    settled = False
    while not settled:
        # Not while holding the home's lock: a new user takes that one first, then this one.
        with held(home.users):
            pass
        settled = stop_if_unused(home)


if __name__ == "__main__":
    watch(Home(Path(sys.argv[1])))
