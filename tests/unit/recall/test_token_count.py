"""Counts against those of the published table, recorded once with another implementation of it."""

import time

import pytest

from ecphoria.recall.answer import TOKEN_COUNTER, count_tokens, cut_to_tokens

CHAT = (
    "Hey Priya! I finally booked the ferry to Gullholm: we leave on 14 June at 7:45 and come back"
    " on the 19th. It's €86.50 each, isn't that absurd? Bring the blue tent, the one with the"
    " patched door, and don't forget your swimming things."
)
CODE = """## Retry with backoff

```python
async def fetch(url: str, *, tries: int = 3) -> bytes:
    for attempt in range(tries):
        try:
            return await client.get(url)
        except TimeoutError:
            await asyncio.sleep(0.25 * 2**attempt)  # 250 ms, 500 ms, 1 s
    raise Unavailable(f"{url!r} did not answer {tries} times")
```

| status | meaning |
|---|---|
| `502` | the gateway waits for `upstream-7f3a` |
"""
GERMAN = "Ich fürchte, die Straßenbahn fährt sonntags nicht; wir müssen über die Brücke laufen."
RUSSIAN = "Завтра утром мы поедем на дачу, а вечером будем варить варенье из смородины."
CHINESE = "我们下个星期三在图书馆见面，别忘了带上你的笔记本和那本红色的字典。"
JAPANESE = "来週の水曜日に図書館で会いましょう。赤い辞書を忘れないでください。"
ARABIC = "سنلتقي يوم الأربعاء القادم في المكتبة، لا تنس أن تحضر القاموس الأحمر."
HINDI = "हम अगले बुधवार को पुस्तकालय में मिलेंगे, लाल शब्दकोश लाना मत भूलना।"
SIGNS = "🎉🎉 done!! → 100 % ✅ (see https://example.org/a?b=c&d=%20) <|endoftext|>"
RECORDED = [
    (CHAT, 63),
    (CODE, 127),
    (GERMAN, 21),
    (RUSSIAN, 24),
    (CHINESE, 30),
    (JAPANESE, 26),
    (ARABIC, 21),
    (HINDI, 20),
    (SIGNS, 33),
    ("", 0),
]


@pytest.mark.parametrize(("text", "tokens"), RECORDED)
def test_the_count_is_the_tables_own(text: str, tokens: int) -> None:
    assert count_tokens([text]) == [tokens]


def test_several_texts_are_counted_one_by_one() -> None:
    texts = [text for text, _ in RECORDED]
    assert count_tokens(texts) == [tokens for _, tokens in RECORDED]


@pytest.mark.parametrize("text", [CHAT, CODE, CHINESE, HINDI, SIGNS])
@pytest.mark.parametrize("limit", [1, 2, 7, 20])
def test_a_cut_text_is_a_start_within_the_limit(text: str, limit: int) -> None:
    kept = cut_to_tokens(text, limit)
    assert text.startswith(kept)
    assert count_tokens([kept])[0] <= limit
    assert count_tokens([kept])[0] >= min(limit, count_tokens([text])[0]) - 3


def test_a_block_of_two_thousand_tokens_is_counted_in_under_five_milliseconds() -> None:
    block = "\n".join([CHAT, CODE, GERMAN] * 10)
    assert 2_000 < count_tokens([block])[0] < 3_000
    times = []
    for _ in range(20):
        start = time.perf_counter()
        count_tokens([block])
        times.append(time.perf_counter() - start)
    assert min(times) < 0.005


def test_the_counter_has_the_name_of_its_table() -> None:
    assert TOKEN_COUNTER == "o200k_base"
