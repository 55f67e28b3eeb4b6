"""Conversations with branches: ChatGPT and DeepSeek, Claude, Open WebUI, Grok.

Each message of the branch that counts becomes one episode, with the export's own id as its key.
The messages of other branches are answers or questions that were written anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ecphoria.errors import BadFile
from ecphoria.imports.items import FileItem
from ecphoria.imports.streams import Found, Reading
from ecphoria.imports.texts import (
    FILES,
    NO_TEXT,
    PICTURES,
    SYSTEM,
    THINKING,
    Message,
    joined_parts,
    without_thinking,
)
from ecphoria.imports.values import Fields, as_list, as_object, instant, session_name, texts, word

OTHER_BRANCHES: Final = "messages of other branches"
_ROLES: Final = {"human": "user", "model": "assistant"}
_FRAGMENTS: Final = {"REQUEST": "user", "RESPONSE": "assistant"}


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


def read_chatgpt(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read a conversation of a ChatGPT export, or of DeepSeek, which has the same tree."""
    talk = as_object(item.value)
    nodes = talk.get("mapping")
    if not isinstance(nodes, dict):
        yield BadFile("Not a conversation of ChatGPT: `mapping` is missing.")
        return
    ident = word(talk.get("conversation_id")) or word(talk.get("id"))
    session = session_name(talk.get("title"), ident)
    parents = {
        child: name
        for name, node in nodes.items()
        for child in as_list(as_object(node).get("children"))
        if isinstance(child, str)
    }
    messages = [node.get("message") if isinstance(node, dict) else node for node in nodes.values()]
    tree = [
        _node(name, as_object(node), "parent", as_object(message).get("create_time"), parents)
        for (name, node), message in zip(nodes.items(), messages, strict=True)
    ]
    when = talk.get("create_time") or talk.get("inserted_at")
    yield from _faults(tree, messages)
    for position, message in _taken(tree, messages, talk.get("current_node"), reading):
        when = message.get("create_time") or message.get("inserted_at") or when
        if said := _chatgpt_said(message, reading):
            key = word(message.get("id")) or f"{ident}-{position}"
            yield {
                **said,
                "session": session,
                "position": position,
                "source": "chatgpt",
                "idempotency_key": f"chatgpt-{key}",
                **reading.occurred(when),
            }


def _chatgpt_said(message: Message, reading: Reading) -> Fields | None:
    """Read role and text of a message; None if it is left out, which is counted."""
    role = word(as_object(message.get("author")).get("role"))
    about, content = as_object(message.get("metadata")), as_object(message.get("content"))
    parts = as_list(content.get("parts")) or [content.get("text")]
    thinks = content.get("content_type") in ("thoughts", "reasoning_recap")
    for fragment in map(as_object, as_list(message.get("fragments"))):
        kind = word(fragment.get("type"))
        role = role or _FRAGMENTS.get(kind, "")
        parts = [*parts, fragment.get("content")] if kind in _FRAGMENTS else parts
        reading.leave_parts(THINKING, kind == "THINK")
    found = [part.get("text") if isinstance(part, dict) else part for part in parts]
    text = texts(found)
    if role == "system":
        reading.leave(SYSTEM)
    elif role not in ("user", "assistant", "tool", ""):
        reading.leave("messages of other roles")
    elif about.get("is_visually_hidden_from_conversation"):
        reading.leave("hidden messages")
    elif not text:
        reading.leave(THINKING if thinks else NO_TEXT)
    else:
        reading.leave_parts(FILES, len(as_list(about.get("attachments"))))
        pictures = sum(isinstance(part, dict) and not part.get("text") for part in parts)
        reading.leave_parts(PICTURES, pictures)
        return {"text": text, "role": role or None}
    return None


def read_claude(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read a conversation of a Claude export, and the texts of its attachments."""
    talk = as_object(item.value)
    messages = talk.get("chat_messages")
    if not isinstance(messages, list):
        yield BadFile("Not a conversation of Claude: `chat_messages` is missing.")
        return
    ident = word(talk.get("uuid"))
    session = session_name(talk.get("name"), ident)
    ids = [word(as_object(one).get("uuid")) for one in messages]
    tree = _nodes(ids, messages, "parent_message_uuid", "created_at")
    last = talk.get("current_leaf_message_uuid")
    taken = branch(tree, last)
    for message in _others(messages, taken):
        files = sum(bool(_attached(one)) for one in as_list(message.get("attachments")))
        reading.leave("attachments of other branches", files)
    yield from _faults(tree, messages)
    for position, message in _taken(tree, messages, last, reading):
        given = {"position": position, "session": session}
        yield from _claude_message(message, given, f"{ident}-{position}", reading)


def _claude_message(
    message: Message, given: Fields, key: str, reading: Reading
) -> Iterator[Fields]:
    ident = word(message.get("uuid")) or key
    common = {"source": "claude", **reading.occurred(message.get("created_at"))}
    text = joined_parts(message.get("content"), reading) or message.get("text")
    if text is None or (isinstance(text, str) and not text.strip()):
        reading.leave(NO_TEXT)
    else:
        sender = word(message.get("sender"))
        yield {  # the check of the field tells a text that is none
            "text": text,
            "role": _ROLES.get(sender, sender or None),
            "idempotency_key": f"claude-{ident}",
            **given,
            **common,
        }
    reading.leave_parts(FILES, len(as_list(message.get("files"))))
    for number, attachment in enumerate(as_list(message.get("attachments"))):
        if words := _attached(attachment):
            yield {
                "text": words,
                "title": word(attachment.get("file_name")) or "attachment",
                "idempotency_key": f"claude-{ident}-{number}",
                **common,
            }
        else:
            reading.leave_parts(FILES)


def _attached(attachment: object) -> str:
    words = as_object(attachment).get("extracted_content")
    return words if isinstance(words, str) and words.strip() else ""


def read_open_webui(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read a chat of Open WebUI."""
    outer = as_object(item.value)
    chat = as_object(outer.get("chat")) or outer
    history = as_object(chat.get("history"))
    by_id = history.get("messages")
    pairs = (
        list(by_id.items()) if isinstance(by_id, dict) and by_id
        else [(word(as_object(one).get("id")), one) for one in as_list(chat.get("messages"))]
    )  # fmt: skip
    if not pairs and not isinstance(by_id, dict) and not isinstance(chat.get("messages"), list):
        yield BadFile("Not a chat of Open WebUI: `history.messages` is missing.")
        return
    ident = word(outer.get("id")) or word(chat.get("id"))
    session = session_name(outer.get("title") or chat.get("title"), ident)
    messages = [one for _, one in pairs]
    tree = _nodes([name for name, _ in pairs], messages, "parentId", "timestamp")
    when = outer.get("created_at") or chat.get("timestamp")
    yield from _faults(tree, messages)
    for position, message in _taken(tree, messages, history.get("currentId"), reading):
        when = message.get("timestamp") or when
        text = without_thinking(joined_parts(message.get("content"), reading), reading)
        role = word(message.get("role"))
        reading.leave_parts(FILES, len(as_list(message.get("files"))))
        key = word(message.get("id")) or tree[position].ident
        place: Fields = {"session": session, "position": position, "source": "open-webui"}
        named = f"open-webui-{ident}-{key}"
        yield from _turn(text, role, {**place, "idempotency_key": named}, when, reading)


def read_grok(item: FileItem, reading: Reading) -> Iterator[Found]:
    """Read a conversation of a Grok export."""
    outer = as_object(item.value)
    talk = as_object(outer.get("conversation")) or outer
    given = outer.get("responses", talk.get("responses"))
    if not isinstance(given, list):
        yield BadFile("Not a conversation of Grok: `responses` is missing.")
        return
    ident = word(talk.get("id")) or word(talk.get("conversation_id"))
    session = session_name(talk.get("title"), ident)
    messages = [as_object(one).get("response", one) for one in given]
    ids = [word(as_object(one).get("_id")) for one in messages]
    tree = _nodes(ids, messages, "parent_response_id", "create_time")
    when = talk.get("create_time")
    yield from _faults(tree, messages)
    for position, message in _taken(tree, messages, talk.get("leaf_response_id"), reading):
        when = message.get("create_time") or when
        sender = word(message.get("sender")).lower()
        text = joined_parts(message.get("message"), reading)
        reading.leave_parts(THINKING, bool(message.get("thinking_trace")))
        reading.leave_parts(FILES, len(as_list(message.get("file_attachments"))))
        role = {"human": "user", "system": "system"}.get(sender, "assistant")
        key = word(message.get("_id")) or f"{ident}-{position}"
        place: Fields = {"session": session, "position": position, "source": "grok"}
        yield from _turn(text, role, {**place, "idempotency_key": f"grok-{key}"}, when, reading)


def _turn(text: str, role: str, place: Fields, when: object, reading: Reading) -> Iterator[Fields]:
    """Give a turn of a talk; one of the system, or without a text, is counted as left out."""
    if role == "system":
        reading.leave(SYSTEM)
    elif not text:
        reading.leave(NO_TEXT)
    else:
        yield {"text": text, "role": role or None, **place, **reading.occurred(when)}


def _nodes(ids: Sequence[str], messages: Sequence[Any], parent: str, when: str) -> list[TreeNode]:
    """Make the nodes of messages that name their parents; without an id, its place is the id."""
    return [
        _node(ident or f"#{place}", as_object(one), parent, as_object(one).get(when))
        for place, (ident, one) in enumerate(zip(ids, messages, strict=True))
    ]


def _node(
    ident: str, message: Message, parent: str, when: object, parents: Mapping[str, str] = {}
) -> TreeNode:
    """Make a node of a tree; `parents` are those that the file tells by their children."""
    linked = parent in message or ident in parents
    above = message.get(parent) if parent in message else parents.get(ident)
    at = instant(when)
    return TreeNode(
        ident=ident,
        parent=above if isinstance(above, str) else None,
        linked=linked,
        when=at.timestamp() if at else None,
    )


def _faults(tree: Sequence[TreeNode], messages: Sequence[Any]) -> Iterator[BadFile]:
    """Refuse each message that is no object; a node without a message holds none."""
    for node, message in zip(tree, messages, strict=True):
        if message is not None and not isinstance(message, dict):
            yield BadFile(f"The message {node.ident[:80]} is no object; it is left out.")


def _taken(
    tree: Sequence[TreeNode], messages: Sequence[Any], last: object, reading: Reading
) -> Iterator[tuple[int, Message]]:
    """Give the messages of the branch that counts, with their positions; count the others."""
    taken = branch(tree, last)
    reading.leave(OTHER_BRANCHES, len(_others(messages, taken)))
    for position, place in enumerate(taken):
        if isinstance(messages[place], dict):
            yield position, messages[place]


def _others(messages: Sequence[Any], taken: Sequence[int]) -> list[Message]:
    off = set(range(len(messages))).difference(taken)
    return [messages[place] for place in sorted(off) if isinstance(messages[place], dict)]


def branch(nodes: Sequence[TreeNode], last: object = None) -> list[int]:
    """List the places of the nodes that lead to the last one, in the order of the conversation.

    No damage of the tree makes a conversation unreadable: a node whose parent is missing follows
    the node before it in the file, and a circle is cut. Without `last` among them, the newest leaf
    is the last node.
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
