from overcoat.exposure.reference import least_holders as least_holders
from overcoat.exposure.reference import weigh_sets as weigh_sets
