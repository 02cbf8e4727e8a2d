"""What a report says, in sentences: each is made from figures that it is given."""

from __future__ import annotations

from overcoat.data.transactions import Transactions
from overcoat.evidence import External, Internal
from overcoat.exposure.reach import Reach
from overcoat.loss.error import Errors
from overcoat.mapping import Mapping
from overcoat.measures.exactness import count_blank
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets, Coherence, Family, Itemsets, Pgen
from overcoat.words import count_of, known_words, people, percent, share

__all__ = [
    "became",
    "board",
    "costs",
    "errors",
    "gaps",
    "promises",
    "safety",
]


# -- the policy ------------------------------------------------------------------------------------


def promises(told: External) -> list[str]:
    """Return the policy as sentences; the paper's letters stand beside their words, once each."""
    policy, k = told.published.policy, told.k
    crowd = f"at least {people(k)} (k = {k:,})"
    sentences = []
    for family in policy.privacy:
        sentences.append(_family(family, crowd))
        crowd = f"at least {people(k)}"
    return [*sentences, _utility(policy, told), _suppression(told)]


def _family(family: Family, crowd: str) -> str:
    either = f"finds {crowd} with them, or nobody."
    match family:
        case AllItemsets(m=m, linkable=None):
            return f"Whoever knows up to {count_of(m, 'item')} (m = {m}) of a person {either}"
        case AllItemsets(m=m, linkable=linkable):
            n = sum(len(one.items) for one in linkable.entries) if linkable else 0
            return (
                f"Whoever knows up to {m} (m = {m}) of the {count_of(n, 'item')} listed as "
                f"linkable {either}"
            )
        case Coherence(p=p, h=h):
            limit = (
                ""
                if h >= 100
                else f" Of those, at most {float(h):g} % (h) have one and the same private item."
            )
            return (
                f"Whoever knows up to {count_of(p, 'public item')} (p = {p}) of a person "
                f"{either}{limit}"
            )
        case Itemsets(sets=sets):
            return (
                f"Whoever knows one of {count_of(len(sets), 'listed set')} of items, or a part of "
                f"it that people have when nobody has all of it, {either}"
            )
        case Pgen():
            return f"Whoever knows any part of a person's row, however much of it, {either}"
    return f"{family!r}: whoever knows one of its sets {either}"


def _utility(policy: Policy, told: External) -> str:
    n = len(told.demands.utility.named)
    if not n:
        return "All items may be merged with each other."
    rest = (
        "the items in none of them may be merged with each other"
        if policy.utility.rest == "together"
        else "the items in none of them stay as they are"
    )
    only = "its items" if n == 1 else "the items of one set"
    sets = "1 set of items is" if n == 1 else f"{n:,} sets of items are"
    return f"{sets} named: only {only} may be merged with each other; {rest}."


def _suppression(told: External) -> str:
    demands = told.demands
    return (
        f"At most {demands.max_suppressed:g} % of the items (s) may be left out: "
        f"{demands.budget:,} of {told.n_items:,}."
    )


# -- is it safe, what did it cost, what is left ----------------------------------------------------


def safety(told: External) -> str:
    """Say whether what the policy demands was found to hold in what was published."""
    verdict = told.verdict
    if not verdict.ok:
        total = sum(verdict.n_violations.values())
        return (
            f"No. The published files do not keep their policy: {count_of(total, 'violation')}. "
            "They must not be used."
        )
    if told.k == 1:
        return "The policy holds, but it protects nobody: it asks for a crowd of one."
    least = verdict.largest_k
    found = "no protected combination fits anybody"
    if least is not None:
        found = f"every protected combination fits at least {people(least)}, or nobody"
        if least > told.k:
            found += f" ({told.k:,} were asked for)"
    return f"Yes, against what the policy names: {found}. All of them were counted."


def became(mapping: Mapping) -> str:
    """Say what became of the items.

    >>> became(Mapping.of("abcd", [["a", "b"], ["c"]]))
    'Of 4 items, 1 is told as it is, 2 are merged into 1 group of 2 items, 1 is left out.'
    """
    if not len(mapping):
        return "There are no items."
    sizes = sorted(map(len, mapping.merged))
    single = sum(len(group) == 1 for group in mapping.members)
    into = ""
    if sizes:
        spread = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
        into = f"merged into {count_of(len(sizes), 'group')} of {spread} items"
    fates = [
        (single, "told as it is" if single == 1 else "told as they are"),
        (sum(sizes), into),
        (len(mapping.suppressed), "left out"),
    ]
    parts = [f"{n:,} {'is' if n == 1 else 'are'} {fate}" for n, fate in fates if n]
    if len(parts) == 1:
        return f"All {count_of(len(mapping), 'item')} {parts[0].split(' ', 1)[1]}."
    return f"Of {count_of(len(mapping), 'item')}, {', '.join(parts)}."


def costs(told: External, inside: Internal | None = None) -> list[str]:
    """Say what the release cost: what became of items, of what people have, of counts."""
    sentences = [became(told.published.mapping)]
    exactness = told.exactness if inside is None else inside.exactness
    if exactness is not None and exactness.total:
        sentences.append(_sentence(str(exactness)))
    sentences += _emptied(told, inside)
    exact = [one for one in told.counts if one.exact]
    if told.counts:
        n = len(told.counts)
        whole = "All" if len(exact) == n else f"{len(exact):,} of"
        sentences.append(
            f"{whole} {n:,} counts of named sets can be read off the release exactly."
            if n > 1
            else f"The count of the named set {'is' if exact else 'is not'} exact."
        )
    if inside is not None and inside.expected is not None:
        sentences.append(errors(inside.expected))
    return sentences


def _emptied(told: External, inside: Internal | None) -> list[str]:
    """Say how many people have nothing left; outside nobody knows who had nothing before."""
    number = count_blank(told.published.released) if inside is None else inside.result.n_emptied
    if not number or not told.suppressed:
        return []
    have = f"{people(number)} {'has' if number == 1 else 'have'}"
    if inside is None:
        return [f"{have} no label: all their items were left out, or they had none."]
    return [f"{have} nothing left: all their items were left out."]


def errors(expected: Errors) -> str:
    """Say how far off counts are that are estimated from a release.

    >>> errors(Errors(0.5, 2.0, 0.25, 1.0))
    'Counts of people with one given item, estimated from the release, are off by 25 % of the true \
number on average, and of people with two given items by 1.0 times the true number (each count as \
often as people have what is counted).'
    """
    one, two = expected.item_occurrences, expected.pair_occurrences
    if not one and not two:
        return "The number of people with any item, or any two, can be read off the release."
    return (
        "Counts of people with one given item, estimated from the release, are off by "
        f"{_off(one)} on average, and of people with two given items by {_off(two)} (each count as "
        "often as people have what is counted)."
    )


def _off(error: float) -> str:
    if error >= 1:
        return f"{error:,.1f} times the true number"
    return f"{100 * error:.2g} % of the true number"


def gaps(told: External) -> list[str]:
    """Say what the release does not protect from."""
    n, k = told.n_transactions, told.k
    published = told.published
    families = published.policy.privacy
    everything = any(isinstance(one, Pgen) for one in families)
    sentences = []
    if not everything:
        # What is one step beyond the promise, and the end of it: all that is in a row.
        more = " ".join(
            f"With {known_words(one.known)}, {share(one.unique, n, one.exact)} "
            f"{_verb(one.unique)} still unique in the release, and "
            f"{share(one.below_k, n, one.exact)} {_verb(one.below_k)} in a crowd of fewer than "
            f"{k:,}."
            for one in told.risk[-2:]
        )
        sentences.append(f"Attackers who know more. {more}")
    listed = [one for one in families if isinstance(one, AllItemsets) and one.linkable is not None]
    if listed or any(isinstance(one, Coherence) for one in families):
        sentences.append("Attackers who know other items. Only some are listed as known to them.")
    if families and all(isinstance(one, Itemsets) for one in families):
        sentences.append(
            "Other combinations. Those that the policy does not list are not protected."
        )
    limited = any(isinstance(one, Coherence) and one.h < 100 for one in families)
    if not limited:
        sentences.append(
            "What a crowd has in common. If all people who fit share another item, the attacker "
            "learns it without knowing which of them it is."
        )
    sentences += [
        "Several releases about the same people. What each hides may show when they are laid side "
        "by side.",
        "Who is in the data. That somebody is in them at all is not hidden.",
    ]
    if published.keep_order:
        sentences.insert(
            0,
            "The order of the rows. They are in the order of the input: whoever knows that order "
            "finds everybody.",
        )
    return sentences


def _verb(number: int) -> str:
    return "is" if number <= 1 else "are"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


# -- for the board ---------------------------------------------------------------------------------


def board(told: External, inside: Internal | None = None) -> list[str]:
    """Return paragraphs that can be copied into an application, with the numbers filled in."""
    n = told.n_transactions
    order = "in the order of the input" if told.published.keep_order else "sorted by their content"
    first = (
        f"The file has one row for each of {people(n)}, without names or other identifiers, "
        f"{order}. A row says which items a person has, in {_mean(told.published.released)} labels "
        f"on average. {became(told.published.mapping)} {_found(told)} That was checked on the "
        "released file itself, by counting code that shares nothing with the method that made it."
    )
    second = []
    for was, now in zip(inside.risk, told.risk, strict=True) if inside is not None else ():
        if was.known == (told.m or 2):
            second.append(
                f"In the original, with {known_words(was.known)}, "
                f"{share(was.unique, n, was.exact)} {_verb(was.unique)} unique, that is, fit one "
                f"row only; in the release {share(now.unique, n, now.exact)} {_verb(now.unique)}."
            )
    beyond = told.risk[-2]
    second.append(
        f"With {known_words(beyond.known)}, {_percent_of_people(beyond, n)} still unique in the "
        "release."
    )
    second += costs(told, inside)[1:]
    return [first, " ".join(second)]


def _found(told: External) -> str:
    """Say in a sentence what an attacker finds."""
    k = people(told.k)
    if not told.verdict.ok or told.k == 1:
        return "The file does not protect anybody as it should."
    families = told.published.policy.privacy
    if any(isinstance(one, Pgen) for one in families):
        return f"Whoever knows any part of a person's row finds at least {k} who fit, or nobody."
    whole = [one.m for one in families if isinstance(one, AllItemsets) and one.linkable is None]
    if whole:
        known = "any item" if max(whole) == 1 else f"up to {max(whole)} items, whichever,"
        return f"Whoever knows {known} of a person finds at least {k} who fit, or nobody."
    return (
        "Whoever knows a combination of items that the policy protects finds at least "
        f"{k} who fit, or nobody."
    )


def _percent_of_people(one: Reach, n: int) -> str:
    if not one.unique:
        return "nobody is" if one.exact else "about nobody is"
    return f"{'' if one.exact else 'about '}{percent(one.unique, n)} of the people are"


def _mean(rows: Transactions) -> str:
    total = int((rows.lengths * rows.counts).sum())
    return f"{total / max(rows.n_transactions, 1):.1f}"
