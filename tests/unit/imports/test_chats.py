"""Branches, names, times and keys of conversations; messengers and memories."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria.imports.exports import Opened, opened_stream
from ecphoria.imports.formats import Format
from ecphoria.imports.trees import TreeNode, branch
from ecphoria.records.episode import NewEpisode


def opened(content: object, form: Format | None = None, name: str = "folder/chat.json") -> Opened:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return opened_stream(io.BufferedReader(io.BytesIO(raw)), form, name=name)


def turns(
    content: object, form: Format | None = None, name: str = "folder/chat.json"
) -> list[NewEpisode]:
    found = [record.content for record in opened(content, form, name).records]
    read = [one for one in found if isinstance(one, NewEpisode)]
    assert len(read) == len(found), found
    return read


def said(content: object, form: Format | None = None) -> list[str]:
    return [turn.text for turn in turns(content, form)]


def tree(**parents: str | None) -> dict[str, Any]:
    """A conversation of ChatGPT whose messages say their ids, a second after each other."""
    mapping = {
        name: {
            "id": name, "parent": parent,
            "message": {"id": name, "author": {"role": "user"}, "create_time": 1_700_000_000 + at,
                        "content": {"parts": [name]}},
        }
        for at, (name, parent) in enumerate(parents.items())
    }  # fmt: skip
    return {"title": "T", "id": "c1", "mapping": mapping}


@pytest.mark.parametrize("last", [None, "gone", 5, "absent"])
def test_without_a_current_node_the_newest_leaf_counts(last: Any) -> None:
    talk = tree(a=None, b="a", c="a", d="b") | {"current_node": last}
    if last == "absent":
        del talk["current_node"]
    export = opened([talk])
    assert [getattr(one.content, "text", one.content) for one in export.records] == ["a", "b", "d"]
    assert export.reading.left_out == {"messages of other branches": 1}
    talk["mapping"]["c"]["message"]["create_time"] = 1_800_000_000
    assert said([talk]) == ["a", "c"]


def test_a_damaged_tree_keeps_its_messages() -> None:
    assert said([tree(a="gone", b="a", c="b")]) == ["a", "b", "c"], "no root"
    assert said([tree(a=None, b="a", c="gone", d="c")]) == ["a", "b", "c", "d"], "no parent"
    assert said([tree(a="c", b="a", c="b")]) == ["a", "b", "c"], "a circle"
    bare = tree(a=None, b=None, c=None)
    for node in bare["mapping"].values():
        del node["parent"], node["message"]["create_time"]
    assert said([bare]) == ["a", "b", "c"], "no links at all"
    bare["mapping"]["a"]["children"], bare["mapping"]["b"]["children"] = ["b", "c"], []
    assert said([bare]) == ["a", "c"], "links by children"
    good = tree(a=None)
    broken = [tree(x=None) | {"mapping": None}, tree(x=None) | {"mapping": {"x": None}}]
    contents = [record.content for record in opened([*broken, good], Format.CHATGPT).records]
    assert [getattr(one, "text", None) for one in contents] == [None, "a"]


NODES = st.lists(
    st.builds(
        TreeNode, ident=st.sampled_from("abcd"), parent=st.none() | st.sampled_from("abcdx"),
        linked=st.booleans(), when=st.none() | st.floats(0, 9),
    ),
    max_size=8,
)  # fmt: skip


@given(NODES, st.sampled_from(["a", "x", None, 3]))
def test_a_branch_of_any_tree_has_each_node_once(nodes: list[TreeNode], last: Any) -> None:
    found = branch(nodes, last)
    assert len(set(found)) == len(found)
    assert bool(found) == bool(nodes)
    if last == "a" and any(node.ident == "a" for node in nodes):
        assert nodes[found[-1]].ident == "a"


def claude(*messages: tuple[str, str | None], last: str | None = None) -> dict[str, Any]:
    return {
        "uuid": "c1", "name": "T", "current_leaf_message_uuid": last,
        "chat_messages": [
            {"uuid": name, "sender": "human", "text": name, "parent_message_uuid": parent,
             "created_at": f"2025-01-12T10:0{at}:00Z"}
            for at, (name, parent) in enumerate(messages)
        ],
    }  # fmt: skip


def test_claude_has_branches() -> None:
    messages = ("a", "0000"), ("cat", "a"), ("dog", "a"), ("walk", "cat")
    assert said([claude(*messages)]) == ["a", "cat", "walk"], "the newest leaf"
    export = opened(claude(*messages, last="dog"))
    assert export.form is Format.CLAUDE, "a single conversation is a list of one"
    assert len(list(export.records)) == 2
    assert export.reading.left_out == {"messages of other branches": 2}
    again = ("a", "0000"), ("b", "0000")
    assert said([claude(*again)]) == ["b"], "the first message was written anew"


def test_each_attachment_of_a_claude_message_has_a_key_of_its_own() -> None:
    talk = claude(("a", None))
    talk["chat_messages"][0]["attachments"] = [
        {"file_name": name, "extracted_content": "Words."} for name in ("one.txt", "two.txt")
    ]
    found = turns([talk])
    assert [one.title for one in found] == [None, "one.txt", "two.txt"]
    assert len({one.idempotency_key for one in found}) == 3


def test_the_placeholder_for_thoughts_is_no_text_of_claude() -> None:
    talk = claude(("a", None))
    talk["chat_messages"][0] |= {
        "text": "This block is not supported.\nDone.",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Done."}],
    }
    export = opened([talk])
    assert [getattr(one.content, "text", "") for one in export.records] == ["Done."]
    assert export.reading.parts == {"thinking": 1}


@pytest.mark.parametrize("form", ["openai", "langchain"])
def test_equal_messages_of_one_conversation_stay_two(form: str) -> None:
    messages = (
        [{"role": "user", "content": "yes"}] * 2 if form == "openai"
        else [{"type": "human", "content": "yes"}] * 2
    )  # fmt: skip
    first, second = turns({"messages": messages})
    assert first.idempotency_key != second.idempotency_key
    assert [first.position, second.position] == [0, 1]


SINGLE: dict[str, Any] = {
    "chatgpt": tree(a=None, b="a"),
    "open-webui": {"title": "T", "history": {"currentId": "b", "messages": {
        "a": {"id": "a", "role": "user", "content": "a", "timestamp": 1_744_577_557},
        "b": {"id": "b", "parentId": "a", "role": "assistant", "content": "b"}}}},
    "grok": {"conversations": [{"conversation": {"title": "T"}, "responses": [
        {"response": {"sender": "human", "message": "a"}},
        {"response": {"sender": "assistant", "message": "b"}}]}]},
    "gemini": {"runSettings": {}, "chunkedPrompt": {"chunks": [
        {"role": "user", "text": "a"}, {"role": "model", "text": "b"}]}},
    "langchain": {"values": {"messages": [
        {"type": "human", "content": "a"}, {"type": "ai", "content": "b"}]}},
    "sharegpt": {"conversations": [
        {"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]},
    "openai": {"prompt": "a", "completion": "b"},
    "telegram": {"name": "Ana", "id": 1, "messages": [
        {"id": 1, "type": "message", "date": "2024-05-01T10:00:00", "from": "Ana", "text": "a"},
        {"id": 2, "type": "message", "date": "2024-05-01T10:00:01", "from": "Bo", "text": "b"}]},
}  # fmt: skip


@pytest.mark.parametrize("form", SINGLE)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_single_conversation_is_read_as_a_list_of_one(form: str, indent: int | None) -> None:
    raw = json.dumps(SINGLE[form], indent=indent).encode()
    assert opened(raw).form == form
    found = turns(raw)
    assert [turn.text for turn in found] == ["a", "b"]
    if form == "telegram":
        assert [(turn.speaker, turn.session) for turn in found] == [
            ("Ana", "Ana 2024-05-01"), ("Bo", "Ana 2024-05-01"),
        ]  # fmt: skip
    else:
        assert [turn.role for turn in found] in (["user", "assistant"], ["user", "user"])


@pytest.mark.parametrize(
    "when",
    [1_714_557_600, 1_714_557_600_000, "1714557600", "2024-05-01T10:00:00Z",
     "2024-05-01 12:00:00+02:00", {"$date": {"$numberLong": "1714557600000"}},
     "Wed, 01 May 2024 10:00:00 +0000"],
)  # fmt: skip
def test_a_time_is_read_in_each_usual_form(when: object) -> None:
    (turn,) = turns({"messages": [{"role": "user", "content": "a", "timestamp": when}]})
    assert turn.occurred_at is not None
    assert turn.occurred_at.timestamp() == 1_714_557_600


@pytest.mark.parametrize("when", ["soon", "0001-01-01T00:00:00Z", 1e300, [], {}, True, "9" * 400])
def test_a_time_that_cannot_be_read_costs_the_time_only(when: object) -> None:
    content = {"messages": [{"role": "user", "content": "a", "created_at": when}]}
    export = opened(content)
    (record,) = export.records
    assert isinstance(record.content, NewEpisode)
    assert record.content.occurred_at is None
    assert export.reading.parts == ({"times that cannot be read": 1} if when else {})


def test_memories_keep_their_end_and_their_lists() -> None:
    memory = {"id": "m", "memory": "Tea.", "expiration_date": "2099-01-31",
              "categories": ["a", "b"],
              "metadata": {"tags": ["x", "y"], "deep": {"z": 1}}}  # fmt: skip
    export = opened({"results": [memory, memory | {"expiration_date": "2020-01-31"}]})
    (record,) = export.records
    assert isinstance(record.content, NewEpisode)
    assert record.content.expires_at is not None
    assert record.content.expires_at.isoformat() == "2099-01-31T23:59:59+00:00"
    assert record.content.metadata == {"tags": "x, y", "categories": "a, b"}
    assert export.reading.left_out == {"expired memories": 1}
    assert export.reading.parts == {"fields that cannot be stored": 1}
    (turn,) = turns({"items": [{"id": "o", "content": "Tea.", "created_at": 1_714_557_600,
                                "app_name": "x", "categories": [{"name": "food"}]}]})  # fmt: skip
    assert (turn.text, turn.metadata) == ("Tea.", {"app_name": "x", "categories": "food"})


WHATSAPP = {
    "German": ("31.12.23, 22:15 - ", "01.01.24, 08:05 - "),
    "American": ("12/31/23, 10:15\u202fPM - ", "1/1/24, 8:05\u202fAM - "),
    "British": ("31/12/2023, 22:15 - ", "01/01/2024, 08:05 - "),
    "Brazilian": ("31/12/2023 22:15 - ", "01/01/2024 08:05 - "),
    "Dutch": ("31-12-2023 22:15 - ", "01-01-2024 08:05 - "),
    "Finnish": ("31.12.2023 klo 22.15 - ", "1.1.2024 klo 8.05 - "),
    "Spanish": ("31/12/23, 10:15\u00a0p.\u00a0m. - ", "1/1/24, 8:05\u00a0a.\u00a0m. - "),
    "iPhone": ("[31.12.23, 22:15:00] ", "[01.01.24, 08:05:00] "),
    "American iPhone": ("[12/31/23, 10:15:00\u202fPM] ", "[1/1/24, 8:05:00\u202fAM] "),
    "ISO": ("[2023-12-31, 22:15:00] ", "[2024-01-01, 08:05:00] "),
    "Japanese": ("2023/12/31 22:15 - ", "2024/01/01 8:05 - "),
    "Korean": ("2023. 12. 31. \uc624\ud6c4 10:15, ", "2024. 1. 1. \uc624\uc804 8:05, "),
}


@pytest.mark.parametrize("locale", WHATSAPP)
def test_a_chat_of_whatsapp_is_read_in_the_dates_of_each_country(locale: str) -> None:
    first, second = WHATSAPP[locale]
    lines = [
        f"{first}Messages are end-to-end encrypted.", f"{first}Ana Kos: See: you", "soon: maybe",
        f"{second}+49 171 12: Yes.", f"{second}Ana Kos: <Media omitted>",
    ]  # fmt: skip
    name = "x/WhatsApp Chat with Ana.txt"
    raw = "\r\n".join(lines).encode()
    export = opened(raw, name=name)
    assert export.form is Format.WHATSAPP
    found = turns(raw, name=name)
    assert [(turn.text, turn.speaker) for turn in found] == [
        ("See: you\nsoon: maybe", "Ana Kos"), ("Yes.", "+49 171 12"),
    ]  # fmt: skip
    assert [turn.occurred_at and turn.occurred_at.isoformat() for turn in found] == [
        "2023-12-31T22:15:00+00:00", "2024-01-01T08:05:00+00:00",
    ]  # fmt: skip
    assert [turn.session for turn in found] == ["Ana 2023-12-31", "Ana 2024-01-01"]
    list(export.records)
    assert export.reading.left_out == {"notices": 1, "messages without text": 1}


def test_equal_messages_of_a_chat_stay_two_and_keep_their_keys() -> None:
    lines = ["31.12.23, 22:15 - Ana: Yes."] * 2
    keys = [turn.idempotency_key for turn in turns("\n".join(lines).encode())]
    assert len(set(keys)) == 2
    longer = "\n".join([*lines, "31.12.23, 22:16 - Ana: No."]).encode()
    assert [turn.idempotency_key for turn in turns(longer)][:2] == keys


def test_the_caption_of_a_file_and_an_edited_message_keep_their_words() -> None:
    raw = (
        "[02.01.24, 21:05:00] Ana: \u200eMessages are end-to-end encrypted.\n"
        "\u200e[02.01.24, 21:05:33] Ana: The boat at dusk \u200e<attached: 001.jpg>\n"
        "[02.01.24, 21:05:40] Ben: Lovely \u200e<This message was edited>\n"
        "\u200e[02.01.24, 21:05:50] Ben: \u200e<attached: 002.jpg>\n"
        "[02.01.24, 21:06:00] Ben: Write <b>bold</b> so.\n"
    ).encode()
    export = opened(raw, name="_chat.txt")
    found = [record.content.text for record in export.records
             if isinstance(record.content, NewEpisode)]  # fmt: skip
    assert found == ["The boat at dusk", "Lovely", "Write <b>bold</b> so."]
    assert export.reading.left_out == {"notices": 1, "messages without text": 1}


def test_a_chat_of_whatsapp_in_another_encoding_is_refused_in_words() -> None:
    raw = "1/2/24, 9:05 PM - Ana: Hi\r\n".encode("utf-16")
    with pytest.raises(BadFile, match="is UTF-16; save it as UTF-8"):
        opened(raw, name="chat.txt")
