"""Mapping: sends each item to its group's label, or to nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Abstract
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from overcoat import html
from overcoat._version import __version__
from overcoat.context import QUIET, Stage
from overcoat.data.io import read
from overcoat.data.io.text import read_text
from overcoat.data.transactions import Transactions
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import MappingError, Problem, UnknownItemsError
from overcoat.labels import make_labels
from overcoat.partition import Partition
from overcoat.words import listed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Mapping"]

_TWICE = "items are in a group twice or in two groups"


@dataclass(frozen=True, eq=False, repr=False)
class Mapping(Abstract[str, "str | None"]):
    """Immutable: each item of the domain goes to one group's label or to nothing.

    A mapping in Python's sense, too: from items to labels, None where an item is suppressed.

    Attributes
    ----------
    vocabulary : the items it covers
    partition : which of them are in one group
    labels : the label of each group, in the order of the groups; a group of one item has that item
        as its label
    file : where it was read
    release : digest of the released transactions it was written with, where the file says it
    keep_order : whether the file says that the release has its rows in the order of the input

    >>> mapping = Mapping.of("abcd", [["a", "b"], ["c"]])
    >>> mapping["b"], mapping["c"], mapping["d"]
    ('(a|b)', 'c', None)
    >>> len(mapping), "a" in mapping, dict(mapping)
    (4, True, {'a': '(a|b)', 'b': '(a|b)', 'c': 'c', 'd': None})
    >>> mapping.suppressed
    ('d',)
    """

    vocabulary: Vocabulary
    partition: Partition
    labels: tuple[str, ...]
    file: str | None = None
    release: str | None = None
    keep_order: bool = False

    def __post_init__(self) -> None:
        if len(self.vocabulary) != self.partition.n_items:
            raise MappingError("the partition is of another number of items than the vocabulary")
        if len(self.labels) != len(self.partition.firsts):
            raise MappingError("there must be one label for each group")

    @classmethod
    def of(cls, vocabulary: Iterable[str], groups: Iterable[Iterable[str]]) -> Mapping:
        """Build from groups of items; the items in none of them are suppressed."""
        vocabulary = vocabulary if isinstance(vocabulary, Vocabulary) else Vocabulary(vocabulary)
        members = [tuple(group) for group in groups]
        problems = [
            Problem(
                f"item {item!r} of a group is not in the vocabulary",
                many="items of groups are not in the vocabulary",
                what=repr(item),
            )
            for group in members
            for item in group
            if item not in vocabulary
        ]
        seen = Counter(item for group in members for item in group)
        problems += [
            Problem(
                f"item {item!r} is in a group twice or in two groups", many=_TWICE, what=repr(item)
            )
            for item, times in seen.items()
            if times > 1
        ]
        if problems:
            raise MappingError(problems)
        codes = [[vocabulary.code(item) for item in group] for group in members]
        return cls.over(vocabulary, Partition.of(codes, len(vocabulary)))

    @classmethod
    def over(
        cls,
        vocabulary: Vocabulary,
        partition: Partition,
        names: Sequence[str | None] = (),
        *,
        earlier: Mapping | None = None,
    ) -> Mapping:
        """Give the groups of a partition their labels, or the names they have.

        A group that an earlier mapping has, too, keeps its label there; no other group gets it.

        >>> vocabulary = Vocabulary("abcd")
        >>> Mapping.over(vocabulary, Partition.of([[0, 1], [2, 3]], 4), ["first", None]).labels
        ('first', '(c|d)')
        """
        if len(vocabulary) != partition.n_items:
            raise MappingError(
                f"the partition has {partition.n_items} items, the vocabulary {len(vocabulary)}"
            )
        members = [tuple(vocabulary[code] for code in group) for group in partition.groups]
        taken = {} if earlier is None else earlier.groups
        return cls(vocabulary, partition, make_labels(vocabulary, members, names, taken))

    @classmethod
    def from_labels(cls, labels: Abstract[str, str | None]) -> Mapping:
        """Build from the label of each item, None where it is suppressed.

        >>> Mapping.from_labels({"a": "x", "b": "x", "c": None}).groups
        {'x': ('a', 'b')}
        """
        if not isinstance(labels, Abstract):
            raise MappingError(f"labels are a mapping from items to labels, not {labels!r}")
        groups: dict[str, list[str]] = {}
        for item, label in labels.items():
            if isinstance(label, str):
                groups.setdefault(label, []).append(item)
        return cls.from_json({"items": dict(labels), "groups": groups})

    @classmethod
    def read(cls, path: str | Path) -> Mapping:
        """Read a mapping file and check that it is one."""
        text = read_text(path, error=MappingError)
        try:
            content = json.loads(text, object_pairs_hook=_without_repeats)
        except json.JSONDecodeError as error:
            raise MappingError(f"not JSON: {error.msg}", str(path), error.lineno) from None
        except ValueError as error:
            raise MappingError(str(error), str(path)) from None
        except RecursionError:
            raise MappingError("nested too deeply for a mapping", str(path)) from None
        return cls.from_json(content, file=str(path))

    @classmethod
    def from_json(cls, content: Any, *, file: str | None = None) -> Mapping:
        """Build from the content of a mapping file; see `to_json`."""
        match content:
            case {"items": dict() as items, "groups": dict() as groups}:
                pass
            case _:
                raise MappingError('expected {"items": {…}, "groups": {…}}', file)
        if problems := list(_faults(items, groups, file)):
            raise MappingError(problems)
        vocabulary = Vocabulary(items)
        codes = {label: sorted(map(vocabulary.code, group)) for label, group in groups.items()}
        partition = Partition.of(codes.values(), len(vocabulary))
        labels = sorted(codes, key=lambda label: codes[label][0])
        release = content.get("release")
        if release is not None and not isinstance(release, str):
            raise MappingError(f"release must be a digest, not {release!r}", file)
        kept = content.get("keep_order") is True
        return cls(vocabulary, partition, tuple(labels), file, release, kept)

    def to_json(self) -> dict[str, Any]:
        """Return the content of the mapping file, in item order."""
        return {
            "overcoat": __version__,
            "items": {item: self[item] for item in self.vocabulary},
            "groups": self.groups,
        }

    def dumps(self, *, keep_order: bool = False, release: str | None = None) -> str:
        """Return the text of the mapping file: one item a line, one group a line.

        Parameters
        ----------
        keep_order : the release has its rows in the order of the input
        release : digest of the released transactions, by which the two are known as a pair
        """
        encode = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes one for each call

        def block(entries: dict[str, Any]) -> str:
            lines = (f"    {encode(key)}: {encode(value)}" for key, value in entries.items())
            return "{\n" + ",\n".join(lines) + "\n  }" if entries else "{}"

        content = self.to_json()
        return (
            "{\n"
            f'  "overcoat": {json.dumps(content["overcoat"])},\n'
            + ('  "keep_order": true,\n' if keep_order else "")
            + (f'  "release": {json.dumps(release)},\n' if release else "")
            + f'  "items": {block(content["items"])},\n'
            f'  "groups": {block(content["groups"])}\n'
            "}\n"
        )

    @cached_property
    def members(self) -> tuple[tuple[str, ...], ...]:
        """The items of each group, in item order; groups by their first item."""
        labels = self.vocabulary.labels
        return tuple(tuple(labels[c] for c in group.tolist()) for group in self.partition.groups)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The items of each label."""
        return dict(zip(self.labels, self.members, strict=True))

    @cached_property
    def _label_of(self) -> dict[str, str]:
        return {
            item: label
            for label, group in zip(self.labels, self.members, strict=True)
            for item in group
        }

    @cached_property
    def suppressed(self) -> tuple[str, ...]:
        """The items that are sent to nothing."""
        return tuple(item for item in self.vocabulary if item not in self._label_of)

    @cached_property
    def generalized(self) -> tuple[str, ...]:
        """The items in groups of two or more."""
        return tuple(self.vocabulary[code] for code in np.flatnonzero(self.partition.size_of > 1))

    @property
    def merged(self) -> tuple[tuple[str, ...], ...]:
        """The groups of two or more items."""
        return tuple(group for group in self.members if len(group) > 1)

    def __getitem__(self, item: str) -> str | None:
        if item not in self.vocabulary:
            raise KeyError(item)
        return self._label_of.get(item)

    def __iter__(self) -> Iterator[str]:
        return iter(self.vocabulary)

    def __len__(self) -> int:
        return len(self.vocabulary)

    def partition_of(self, data: Transactions) -> Partition:
        """Return the partition of the items that occur in some data, over their codes.

        A mapping may know more items than occur; the size of a group counts those that do, as
        everything in the definitions does.

        >>> mapping = Mapping.of("abc", [["a", "b"], ["c"]])
        >>> mapping.partition_of(Transactions.of([{"b", "c"}])).size_of
        array([1, 1])
        """
        self._check_covers(data)
        known = [self.vocabulary.code(item) for item in data.vocabulary]
        return self.partition.over(np.array(known, np.int64))

    def partition_over(self, vocabulary: Vocabulary) -> Partition:
        """Return the partition of some items, over their codes; one it does not know stands alone.

        >>> mapping = Mapping.of("abc", [["a", "b"]])
        >>> mapping.partition_over(Vocabulary("bcd")).group_of
        array([ 0, -1,  2], dtype=int32)
        """
        n_known = len(self.vocabulary)
        group_of = [
            n_known + code if known is None else int(self.partition.group_of[known])
            for code, known in enumerate(map(self.vocabulary.get, vocabulary))
        ]
        return Partition(np.array(group_of, np.int64))

    def to_frame(self) -> pl.DataFrame:
        """Return a polars frame: item, label (null where it is suppressed), size of its group."""
        import polars as pl

        return pl.DataFrame(
            {
                "item": pl.Series(list(self), dtype=pl.String),
                "label": pl.Series(list(self.values()), dtype=pl.String),
                "group_size": pl.Series(self.partition.size_of, dtype=pl.Int64),
            }
        )

    def apply(self, data: Any, *, stage: Stage = QUIET, **options: Any) -> Transactions:
        """Return `data` with each item replaced by its group's label, once per transaction.

        >>> mapping = Mapping.of(Vocabulary("abcd"), [["a", "b"], ["c"]])
        >>> list(mapping.apply(Transactions.of([{"a", "b"}, {"a", "c", "d"}, {"d"}])))
        [((), 1), (('(a|b)',), 1), (('(a|b)', 'c'), 1)]
        """
        rows = read(data, **options)
        self._check_covers(rows)
        labels = [self._label_of.get(item) for item in rows.vocabulary]
        return rows.relabelled(labels, stage=stage)

    def _check_covers(self, data: Transactions) -> None:
        unknown = [item for item in data.vocabulary if item not in self.vocabulary]
        if not unknown:
            return
        if {*unknown} <= {*self.labels}:
            raise MappingError(
                "these data hold labels of the mapping, not items: they look like a release; give "
                "the original",
                self.file,
            )
        raise UnknownItemsError(unknown, self.file)

    def __eq__(self, other: object) -> bool:
        """Equal when they send the same items to the same labels, wherever they were read."""
        return (
            isinstance(other, Mapping)
            and self.vocabulary == other.vocabulary
            and self.partition == other.partition
            and self.labels == other.labels
        )

    def __hash__(self) -> int:
        return hash((self.vocabulary, self.partition))

    def _repr_html_(self) -> str:
        largest = sorted(self.groups.items(), key=lambda group: -len(group[1]))
        rows = [(label, len(items), listed(items)) for label, items in largest if len(items) > 1]
        untouched = sum(len(items) == 1 for items in self.members)
        facts = [
            ("items", len(self)),
            ("groups of two or more", len(rows)),
            ("untouched", untouched),
            ("suppressed", len(self.suppressed)),
        ]
        groups = html.table(rows[:10], ["label", "items", "which"]) if rows else ""
        gone = html.table([("suppressed", listed(self.suppressed))]) if self.suppressed else ""
        return html.card("Mapping", html.table(facts), groups, gone)

    def __repr__(self) -> str:
        return (
            f"Mapping({len(self.vocabulary)} items, {len(self.merged)} merged groups, "
            f"{len(self.suppressed)} suppressed)"
        )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object, refusing repeated keys: JSON readers would silently keep the last."""
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {repeated!r} stands twice")
    return content


def _faults(items: dict[str, Any], groups: dict[str, Any], file: str | None) -> Iterator[Problem]:
    """Yield what is wrong between `items` and `groups`; nothing when they agree."""

    def fault(message: str, many: str, what: Any) -> Problem:
        return Problem(message, file, many=many, what=repr(what))

    owner: dict[str, str] = {}
    for label, members in groups.items():
        if not isinstance(members, list) or not members:
            yield fault(f"group {label!r} must list its items", "groups list no items", label)
            continue
        for item in members:
            if not isinstance(item, str) or item not in items:
                stranger = f"group {label!r} has {item!r}, which is no item of the mapping"
                yield fault(stranger, "members of groups are no items of the mapping", item)
            elif item in owner:
                yield fault(f"item {item!r} is in a group twice or in two groups", _TWICE, item)
            else:
                owner[item] = label
        if label in items and members != [label] and set(members) <= set(items):
            outside = f"label {label!r} is also the name of an item outside that group"
            yield fault(outside, "labels are also names of items outside their groups", label)
    for item, label in items.items():
        if label is not None and not isinstance(label, str):
            wrong = f"the label of {item!r} must be a string or null, not {label!r}"
            yield fault(wrong, "items have labels that are neither strings nor null", item)
        elif owner.get(item) != label:
            other = f"item {item!r} has label {label!r}, but groups say {owner.get(item)!r}"
            yield fault(other, "items have other labels than groups say", item)
