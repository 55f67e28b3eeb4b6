"""The branch of a conversation that counts, where answers or questions were written anew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

OTHER_BRANCHES: Final = "messages of other branches"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """A message in the tree of its conversation.

    Attributes:
        ident: Its id.
        parent: Id of the message before it; None if it begins the conversation.
        linked: Whether the file tells its parent; if not, it follows the node before it.
        when: Its time, in seconds since 1970.
    """

    ident: str
    parent: str | None = None
    linked: bool = True
    when: float | None = None


def branch(nodes: Sequence[TreeNode], last: object = None) -> list[int]:
    """List the places of the nodes that lead to the last one, in the order of the conversation.

    No damage of the tree makes a conversation unreadable: a node whose parent is missing follows
    the node before it in the file, and a circle is cut.

    Args:
        nodes: All nodes, in the order of the file.
        last: Id of the last node; the newest leaf if it is not among the nodes.
    """
    if not nodes:
        return []
    places: dict[str, int] = {}
    for place, node in enumerate(nodes):
        places.setdefault(node.ident, place)
    before = list(_before(nodes, places))
    if isinstance(last, str) and last in places:
        at: int | None = places[last]
    else:
        parents = set(before)
        leaves = [place for place in range(len(nodes)) if place not in parents]
        at = max(leaves or range(len(nodes)), key=lambda place: (_time(nodes[place]), place))
    found: list[int] = []
    seen: set[int] = set()
    while at is not None and at not in seen:
        seen.add(at)
        found.append(at)
        at = before[at]
    return found[::-1]


def _before(nodes: Sequence[TreeNode], places: dict[str, int]) -> Iterator[int | None]:
    """Find the place of the node before each."""
    first = nodes[0].parent  # a missing root is the parent of all that begin the conversation
    for place, node in enumerate(nodes):
        if node.linked and node.parent in places and places[node.parent] != place:
            yield places[node.parent]
        elif node.linked and node.parent in (None, first):
            yield None
        else:
            yield place - 1 if place else None


def _time(node: TreeNode) -> float:
    return float("-inf") if node.when is None else node.when
