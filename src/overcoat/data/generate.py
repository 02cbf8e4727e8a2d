"""Generated transactions as CSR arrays: hospital patients, and baskets of any size and skew.

Every number comes from ``Generator.random`` over PCG64 with a seed, and is turned into a choice
by looking it up in a table of cumulative shares. NumPy's distribution methods (``poisson``,
``zipf``, ``choice``) are avoided because their streams may change between versions. Only
comparison and the four operations stand between a draw and a choice wherever possible, so a seed
gives the same data on every machine; the tests hold SHA-256 sums of it.

Both generators make rows in chunks, so that scratch memory does not grow with n, and the first n
rows are the same whatever n is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overcoat.checks import check_count
from overcoat.errors import PolicyError

__all__ = ["PROFILES", "Csr", "Profile", "basket_chunks", "patient_chunks"]

CHUNK = 1 << 14  # rows; part of what a seed means, so it must not change

Floats = NDArray[np.float64]
Csr = tuple[NDArray[np.int64], NDArray[np.int32]]


def _checked_real(name: str, value: Any, least: float) -> float:
    if isinstance(value, (bool, str)) or not _is_finite(value) or value < least:
        raise PolicyError(f"{name} must be a finite number of at least {least:g}, not {value!r}")
    return float(value)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def _cumulative(shares: Sequence[float] | Floats) -> Floats:
    """Cumulative shares that end in exactly 1, so that a draw in [0, 1) always finds a place."""
    total = np.cumsum(np.asarray(shares, np.float64))
    cumulative: Floats = total / total[-1]
    return cumulative


def _distinct_rows(
    row: NDArray[np.int64], item: NDArray[np.int64], n_rows: int, n_items: int
) -> Csr:
    """CSR arrays of (row, item) pairs: items ascending in a row, repetitions dropped."""
    keys = row * n_items + item  # row and item in one key: one sort does both
    keys.sort()
    if len(keys):
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    offsets = np.searchsorted(keys, np.arange(n_rows + 1, dtype=np.int64) * n_items)
    return offsets.astype(np.int64), (keys % n_items).astype(np.int32)


# ---- hospital ----------------------------------------------------------------------------------
#
# A patient has a profile (what kind of patient: heart, lungs, pregnancy, …) and a burden (how ill).
# The profile gives each disorder a chance, the burden multiplies it. Disorders are independent
# given the two; sharing them is what makes diabetes come with hypertension and kidney disease.
#
# The disorders of the case study occur only in the profiles that list them, and the few patients
# of highest burden have nearly all that their profile lists. So a combination of studied disorders
# either does not occur or is shared by several patients: a policy that must keep the disorders
# apart can be met, which is the situation the paper's case study describes.


class Profile(NamedTuple):
    """A kind of patient: its share of the patients, and the chance of each disorder."""

    share: float
    chances: Mapping[str, float]


PROFILES: Mapping[str, Profile] = {
    "metabolism": Profile(
        0.19,
        {
            "Hypertension": 0.60, "Diabetes mellitus": 0.55, "Hyperlipidemia": 0.45,
            "Chronic kidney disease": 0.22, "Obesity": 0.20, "Gout": 0.06, "Sleep apnea": 0.07,
            "Retinal disorders": 0.07, "Neuropathy": 0.09, "Peripheral arterial disease": 0.05,
            "Acute kidney failure": 0.04, "Skin ulcer": 0.03, "Anemia": 0.05, "Eye": 0.04,
            "Fluids and electrolytes": 0.04, "Urinary infection": 0.04,
        },
    ),
    "heart": Profile(
        0.15,
        {
            "Hypertension": 0.55, "Hyperlipidemia": 0.40, "Coronary atherosclerosis": 0.55,
            "Heart failure": 0.28, "Atrial fibrillation and flutter": 0.28,
            "Diabetes mellitus": 0.28, "Chronic kidney disease": 0.20, "Heart procedures": 0.14,
            "Acute myocardial infarction": 0.09, "Other heart rhythm": 0.09,
            "Heart valve disease": 0.09, "Chest pain": 0.12, "Stroke": 0.07,
            "Peripheral arterial disease": 0.07, "Tobacco use": 0.07, "Lung and pleura": 0.04,
            "Fluids and electrolytes": 0.05, "Anemia": 0.05,
        },
    ),
    "lungs": Profile(
        0.11,
        {
            "COPD": 0.45, "Asthma": 0.38, "Hypertension": 0.26, "Tobacco use": 0.22,
            "Pneumonia": 0.15, "Acute respiratory infection": 0.18, "Respiratory failure": 0.07,
            "Cough and breathlessness": 0.12, "Lung and pleura": 0.07, "Lung cancer": 0.05,
            "Allergic rhinitis and sinusitis": 0.12, "Reflux": 0.06, "Sepsis": 0.02,
        },
    ),
    "mind": Profile(
        0.11,
        {
            "Depression": 0.55, "Bipolar disorder": 0.24, "Schizophrenia": 0.20, "Anxiety": 0.25,
            "Alcohol": 0.12, "Drugs": 0.12, "Tobacco use": 0.12, "Dementia": 0.04,
            "Personality and behavior": 0.09, "Poisoning": 0.05, "Epilepsy": 0.04,
            "Headache": 0.06, "Liver": 0.03,
        },
    ),
    "breast and bones": Profile(
        0.07,
        {
            "Breast cancer": 0.55, "Osteoporosis": 0.30, "Depression": 0.22,
            "Secondary cancer": 0.18, "Cancer treatment": 0.16, "Cancer history": 0.12,
            "Anemia": 0.09, "Blood cell counts": 0.07, "Benign tumor": 0.07,
            "Female genital": 0.05,
        },
    ),
    "prostate": Profile(
        0.05,
        {
            "Prostate cancer": 0.55, "Hypertension": 0.35, "Hyperlipidemia": 0.28,
            "Prostate, other": 0.30, "Cancer history": 0.09, "Secondary cancer": 0.10,
            "Kidney and bladder, other": 0.09, "Urinary infection": 0.07, "Cancer treatment": 0.07,
        },
    ),
    "bowel": Profile(
        0.035,
        {
            "Colorectal cancer": 0.55, "Hypertension": 0.32, "Secondary cancer": 0.18,
            "Cancer treatment": 0.14, "Anemia": 0.14, "Gastrointestinal bleeding": 0.10,
            "Bowel": 0.12, "Benign tumor": 0.08, "Complications of care": 0.06,
        },
    ),
    "pancreas": Profile(
        0.03,
        {
            "Pancreatic cancer": 0.55, "Diabetes mellitus": 0.40, "Secondary cancer": 0.18,
            "Cancer treatment": 0.14, "Pancreatitis": 0.12, "Malnutrition and vitamins": 0.08,
            "Gallbladder": 0.06, "Liver": 0.05,
        },
    ),
    "joints": Profile(
        0.10,
        {
            "Osteoarthritis": 0.50, "Rheumatoid arthritis": 0.28, "Osteoporosis": 0.28,
            "Hypothyroidism": 0.30, "Hypertension": 0.28, "Back pain": 0.20, "Joint pain": 0.15,
            "Soft tissue": 0.12, "Joint replacement": 0.10, "Connective tissue": 0.06,
            "Hip and leg fracture": 0.05, "Malnutrition and vitamins": 0.05, "Eye": 0.05,
        },
    ),
    "pregnancy": Profile(
        0.06,
        {
            "Pregnancy": 0.60, "Delivery": 0.60, "Pregnancy loss": 0.06, "Hypothyroidism": 0.09,
            "Anemia": 0.06, "Urinary infection": 0.06, "Female genital": 0.06,
        },
    ),
    "accident or acute": Profile(
        0.095,
        {
            "Sprains and wounds": 0.18, "Arm and trunk fracture": 0.09,
            "Hip and leg fracture": 0.07, "Head injury": 0.05, "External cause": 0.20,
            "Hernia and appendix": 0.08, "Gallbladder": 0.08, "Skin infection": 0.07,
            "Intestinal infection": 0.05, "Acute respiratory infection": 0.10, "Symptoms": 0.20,
            "Bowel": 0.06, "Reflux": 0.06, "Stomach": 0.06, "Ear": 0.04, "Sepsis": 0.03,
            "Kidney and bladder, other": 0.05, "Back pain": 0.06,
        },
    ),
}  # fmt: skip

BURDENS = ((0.50, 0.45), (0.30, 1.0), (0.14, 2.0), (0.06, 7.0))  # (share, factor)
HIGHEST_CHANCE = 0.95
ANYONE = 0.004  # chance of a disorder that the profile does not list
# … except those of one sex, which, like the studied ones, need a profile that lists them:
NOT_ANYONE = {"Delivery", "Female genital", "Pregnancy", "Pregnancy loss", "Prostate, other"}
ANOTHER_CODE = 0.22  # chance of a second code for the same disorder
FALLBACK = "Check-up"  # what brings a patient with no disorder at all
CODE_SKEW = 1.5  # the r-th code of a disorder is drawn in proportion to r^-1.5


def patient_chunks(
    n: int, disorders: Mapping[str, Sequence[int]], studied: frozenset[str], n_codes: int, seed: int
) -> Iterator[Csr]:
    """Yield the codes of `n` patients, chunk after chunk, as CSR arrays.

    Parameters
    ----------
    n : number of patients
    disorders : disorder -> its codes, commonest first; the codes are 0 … n_codes - 1
    studied : the disorders that occur only in profiles that list them
    n_codes : number of codes
    seed : of PCG64

    >>> disorders = {name: [d] for d, name in enumerate(
    ...     sorted({name for p in PROFILES.values() for name in p.chances} | {"Check-up"}))}
    >>> (offsets, codes), = patient_chunks(100, disorders, frozenset(), len(disorders), seed=1)
    >>> len(offsets), bool((offsets[1:] > offsets[:-1]).all())  # nobody is without a code
    (101, True)
    """
    names = list(disorders)
    elsewhere = [0.0 if name in studied or name in NOT_ANYONE else ANYONE for name in names]
    chances = np.array(
        [
            [p.chances.get(name, other) for name, other in zip(names, elsewhere, strict=True)]
            for p in PROFILES.values()
        ]
    )  # (profiles, disorders)
    profile_cdf = _cumulative([p.share for p in PROFILES.values()])
    burden_cdf = _cumulative([share for share, _ in BURDENS])
    burden_factor = np.array([factor for _, factor in BURDENS])
    fallback = names.index(FALLBACK)

    # One table for the codes of all disorders: the shares of disorder d cover [d, d + 1].
    code_cdf = np.concatenate(
        [
            # r * sqrt(r), not r ** 1.5: a square root is exactly rounded everywhere, a power not.
            d + _cumulative([1 / (r * math.sqrt(r)) for r in range(1, len(codes) + 1)])
            for d, codes in enumerate(disorders.values())
        ]
    )  # (all codes,)
    code_of = np.concatenate([np.asarray(codes, np.int64) for codes in disorders.values()])
    last = np.cumsum([len(codes) for codes in disorders.values()]) - 1

    def pick(disorder: NDArray[np.int64], draw: Floats) -> NDArray[np.int64]:
        # d + draw can round up to d + 1, into the codes of the next disorder: hence the minimum.
        place = np.searchsorted(code_cdf, disorder + draw, side="right")
        picked: NDArray[np.int64] = code_of[np.minimum(place, last[disorder])]
        return picked

    # A patient takes a fixed number of draws, used or not, so patient i is the same for every n.
    width = 2 + 3 * len(names)
    rng = np.random.Generator(np.random.PCG64(seed))
    for start in range(0, n, CHUNK):
        n_rows = min(CHUNK, n - start)
        draws = rng.random((n_rows, width))
        happens, first, second = np.split(draws[:, 2:], 3, axis=1)  # each (patients, disorders)
        profile = np.searchsorted(profile_cdf, draws[:, 0], side="right")
        factor = burden_factor[np.searchsorted(burden_cdf, draws[:, 1], side="right")]
        has = happens < np.minimum(chances[profile] * factor[:, None], HIGHEST_CHANCE)
        has[~has.any(axis=1), fallback] = True

        row, disorder = np.nonzero(has)  # (patient, disorder) pairs
        one = pick(disorder, first[row, disorder])
        again = second[row, disorder] / ANOTHER_CODE  # below 1: a second code, and which
        more = again < 1
        two = pick(disorder[more], again[more])
        rows, codes = np.concatenate([row, row[more]]), np.concatenate([one, two])
        yield _distinct_rows(rows, codes, n_rows, n_codes)


# ---- baskets -----------------------------------------------------------------------------------


def basket_chunks(n: int, n_items: int, mean: float, skew: float, seed: int) -> Iterator[Csr]:
    """Yield `n` baskets over items 0 … n_items - 1, chunk after chunk, as CSR arrays.

    A row is 1 + Poisson draws from the items, the r-th in proportion to r^-skew, each kept once.
    How many draws that takes for rows of `mean` items after dropping repetitions is solved for
    beforehand. Chunk c has its own generator, seeded with (seed, c).

    >>> (offsets, codes), = basket_chunks(1000, 50, mean=4.0, skew=1.0, seed=1)
    >>> len(offsets) - 1, 3.8 < len(codes) / 1000 < 4.2
    (1000, True)
    """
    n = check_count("n", n, 0)
    n_items = check_count("n_items", n_items, 1)
    seed = check_count("seed", seed, 0)
    mean = _checked_real("mean", mean, 1)
    skew = _checked_real("skew", skew, 0)
    if n_items > np.iinfo(np.int32).max:
        raise PolicyError(f"n_items must be below 2^31, not {n_items}")
    if mean > n_items:
        raise PolicyError(f"rows of {mean:g} different items cannot be drawn from {n_items}")
    return _basket_chunks(n, n_items, mean, skew, seed)


def _basket_chunks(n: int, n_items: int, mean: float, skew: float, seed: int) -> Iterator[Csr]:
    weights = np.arange(1, n_items + 1, dtype=np.float64) ** -skew
    item_cdf = _cumulative(weights)
    size_cdf = _poisson_cdf(_extra_draws(weights / weights.sum(), mean, skew))
    for start in range(0, n, CHUNK):
        n_rows = min(CHUNK, n - start)
        rng = np.random.Generator(np.random.PCG64([seed, start // CHUNK]))
        # All sizes of the chunk first, even if n ends inside it: the items then start at the
        # same place of the stream.
        sizes = 1 + np.searchsorted(size_cdf, rng.random(CHUNK)[:n_rows], side="right")
        row = np.repeat(np.arange(n_rows, dtype=np.int64), sizes)
        item = np.searchsorted(item_cdf, rng.random(len(row)), side="right")
        yield _distinct_rows(row, item, n_rows, n_items)


def _extra_draws(shares: Floats, mean: float, skew: float) -> float:
    """Return the Poisson mean x for which rows of 1 + Poisson(x) draws hold `mean` items."""

    def items_held(x: float) -> float:
        # An item of share p is missed by the first draw and by all of the Poisson(x) others.
        return float((1 - (1 - shares) * np.exp(-x * shares)).sum())

    low, high = 0.0, 100 * mean
    if items_held(high) < mean:
        raise PolicyError(
            f"rows of {mean:g} different items out of {len(shares)} at skew {skew:g} would take "
            f"more than 100 draws an item; lower mean or skew, or add items"
        )
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if items_held(middle) < mean else (low, middle)
    return round(high, 6)  # so that the last bit of a platform's exp does not show


def _poisson_cdf(x: float) -> Floats:
    """Cumulative Poisson(x) from 0 on, as far as a double can tell from 1.

    >>> [round(float(p), 4) for p in _poisson_cdf(1.0)[:3]]
    [0.3679, 0.7358, 0.9197]
    """
    # Outwards from the mode by ratios of neighbours: no exponential, no underflow for large x.
    mode = int(x)
    below, above = [1.0], [1.0]
    while mode - len(below) >= 0 and below[-1] > 1e-18:
        below.append(below[-1] * (mode - len(below) + 1) / x)
    while above[-1] > 1e-18:
        above.append(above[-1] * x / (mode + len(above)))
    zeros = [0.0] * (mode + 1 - len(below))
    return _cumulative([*zeros, *reversed(below), *above[1:]])
