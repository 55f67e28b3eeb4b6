"""The numbers of the concept channel."""

from dataclasses import dataclass

__all__ = ["ChannelOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelOptions:
    """Set the walk; the defaults are the measured ones.

    Attributes:
        steps: T, items to concepts to items.
        keep: share of its energy an item keeps per step.
        flow: share a concept passes on (lambda).
        title_out: weight from an item to its own title, against 1 to a mention.
        mention_back: weight from a concept to an item that mentions it, against 1 over ABOUT.
        related: share of its energy that a concept passes on to related ones.
        item_fan: exponent of an item's number of concepts.
        concept_fan: exponent of a concept's number of items.
        hub: a concept with more mentions neither receives nor sends over MENTIONS.
        item_frontier: how many items send in a step; ties with the last send too.
        concept_frontier: how many concepts send.
    """

    steps: int = 3
    keep: float = 0.5
    flow: float = 0.8
    title_out: float = 0.1
    mention_back: float = 0.1
    related: float = 0.4
    item_fan: float = 0.5
    concept_fan: float = 0.75
    hub: int = 50
    item_frontier: int = 10
    concept_frontier: int = 30

    def __post_init__(self) -> None:
        shares = (self.keep, self.flow, self.title_out, self.mention_back, self.related)
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise ValueError("keep, flow, title_out, mention_back, related must lie in [0, 1]")
        if not all(0.0 <= power <= 1.0 for power in (self.item_fan, self.concept_fan)):
            raise ValueError("item_fan and concept_fan must lie in [0, 1]")
        if min(self.steps, self.hub) < 0 or min(self.item_frontier, self.concept_frontier) < 1:
            raise ValueError("steps and hub must be at least 0, the frontiers at least 1")
