from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ecphoria.text.concepts import Extraction, NameRow, NameTable, extract
from ecphoria.text.english import STOP_WORDS

WORDS = ["New", "York", "City", "city", "Rose", "rose", "More", "more", "Ann", "of", "the", "1984"]

bodies = st.lists(
    st.tuples(st.sampled_from(WORDS), st.sampled_from([" ", " ", " ", ". ", ", "])), max_size=8
).map(lambda parts: "".join(word + gap for word, gap in parts))
titles = st.none() | st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
stores = st.lists(st.builds(extract, titles, bodies), max_size=7)


def contains(words: Sequence[str], name: str) -> bool:
    return f" {name} " in f" {' '.join(words)} "


def oracle_concepts(items: Sequence[Extraction]) -> set[str]:
    titles = {item.title.name for item in items if item.title}
    lower = {word for item in items for word in item.lower}
    offered = Counter(candidate.name for item in items for candidate in item.candidates)
    several_words = {name for name in offered if " " in name}
    repeated = {name for name, count in offered.items() if count >= 2 and " " not in name}
    return titles | several_words | (repeated - lower - STOP_WORDS)


def oracle_mentions(items: Sequence[Extraction]) -> list[set[str]]:
    concepts = oracle_concepts(items)
    lower = {word for item in items for word in item.lower}
    result = []
    for item in items:
        found = {candidate.name for candidate in item.candidates} & concepts
        rest = list(item.words)
        while rest:
            starts = [" ".join(rest[:size]) for size in range(len(rest), 0, -1)]
            hit = next((name for name in starts if name in concepts - STOP_WORDS), None)
            if hit:
                found.add(hit)
            rest = rest[len(hit.split()) if hit else 1 :]
        own = {item.title.name} if item.title else set()
        result.append(found - lower - own)
    return result


def vocabulary(item: Extraction) -> frozenset[str]:
    """List every word that decides the changes or mentions of an item in a table."""
    named = [*item.candidates, *item.stated, *([item.title] if item.title else [])]
    return item.lower.union(item.words, *(one.name.split() for one in named))


class Store:
    """Does with a table's deltas what a database would, and keeps only what it would keep."""

    def __init__(self) -> None:
        self.rows: dict[str, NameRow] = {}
        self.lower: set[str] = set()
        self.concepts: set[str] = set()
        self.items: list[Extraction] = []
        self.mentions: list[set[str]] = []

    def table(self, batch: Sequence[Extraction]) -> NameTable:
        """Load only what the batch can touch."""
        needed = frozenset().union(*map(vocabulary, batch))
        rows = [row for row in self.rows.values() if row.name.split()[0] in needed]
        return NameTable(rows, self.lower & needed)

    def add(self, batch: Sequence[Extraction]) -> None:
        delta = self.table(batch).add(batch)
        self.rows |= {row.name: row for row in delta.rows}
        self.lower |= set(delta.lower)
        self.concepts = (self.concepts | set(delta.appeared)) - set(delta.vanished)
        for found in self.mentions:
            found -= {*delta.vanished, *delta.silenced}
        for index, item in enumerate(self.items):
            if any(contains(item.words, name) for name in delta.sought):
                self.mentions[index] = set(self.table([item]).mentions(item))
        for item in batch:
            self.items.append(item)
            self.mentions.append(set(self.table([item]).mentions(item)))


@given(items=stores, data=st.data())
def test_any_order_and_any_batches_end_in_the_same_graph(
    items: list[Extraction], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(items))))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(items)))))
    store = Store()
    for start, stop in zip([0, *cuts], [*cuts, len(items)], strict=True):
        store.add([items[index] for index in order[start:stop]])

    assert store.concepts == oracle_concepts(items)
    assert NameTable(store.rows.values(), store.lower).concepts == store.concepts
    expected = oracle_mentions(items)
    assert store.mentions == [expected[index] for index in order]


@given(items=stores, data=st.data())
def test_a_removed_item_leaves_the_table_of_the_rest(
    items: list[Extraction], data: st.DataObject
) -> None:
    table = table_of(*items)
    rest = list(items)
    mentions = [set(table.mentions(item)) for item in rest]
    for _ in range(data.draw(st.integers(0, len(items)))):
        place = data.draw(st.integers(0, len(rest) - 1))
        gone = rest.pop(place)
        del mentions[place]
        last = gone.lower - frozenset().union(*(item.lower for item in rest))
        before = table.concepts
        delta = table.remove(gone, last)
        assert table.concepts == (before | set(delta.appeared)) - set(delta.vanished)
        assert table.concepts == oracle_concepts(rest)
        for index, item in enumerate(rest):
            if any(contains(item.words, name) for name in delta.sought):
                mentions[index] = set(table.mentions(item))
        assert mentions == oracle_mentions(rest)
    assert table.add(items) == table_of(*rest).add(items)


def table_of(*items: Extraction) -> NameTable:
    table = NameTable()
    table.add(items)
    return table


def test_a_new_title_is_sought_in_older_items() -> None:
    table = NameTable()
    older = extract(None, "we talked about the blue heron for an hour")
    table.add([older])
    delta = table.add([extract("Blue Heron", "A bird.")])
    assert delta.appeared == ("blue heron",)
    assert delta.sought == ("blue heron",)
    assert table.mentions(older) == ("blue heron",)


def test_one_word_needs_two_items_and_no_lower_case() -> None:
    table = NameTable()
    assert table.add([extract(None, "We saw Basil.")]).appeared == ()
    assert table.add([extract(None, "Then Basil left.")]).appeared == ("basil",)
    assert table.add([extract(None, "Put basil on it.")]).vanished == ("basil",)
    assert table.add([extract(None, "Basil again.")]).appeared == ()


def test_a_title_that_is_an_everyday_word_stays_a_concept_nobody_mentions() -> None:
    table = NameTable()
    table.add([extract("Home", "A film.")])
    viewer = extract(None, "We watched Home.")
    assert table.mentions(viewer) == ("home",)
    delta = table.add([extract(None, "They went home.")])
    assert (delta.vanished, delta.silenced) == ((), ("home",))
    assert table.mentions(viewer) == ()
    assert "home" in table.concepts


def test_the_longest_name_wins_and_takes_its_words() -> None:
    table = table_of(
        extract("New York", ""), extract("York City", ""), extract("New York City", "")
    )
    assert table.lookup(["in", "new", "york", "city"]) == ("new york city",)
    assert table.lookup(["new", "york", "york", "city"]) == ("new york", "york city")


def test_an_item_does_not_mention_its_own_title() -> None:
    film = extract("Up River (1990 film)", "Up River was shot on the Grand Canal.")
    assert table_of(film).mentions(film) == ("grand canal",)


def test_two_items_with_one_title_share_a_concept() -> None:
    table = NameTable()
    table.add([extract("Mercury (planet)", "Hot.")])
    assert table.add([extract("Mercury (element)", "Wet.")]).appeared == ()
    assert table.concepts == {"mercury"}
