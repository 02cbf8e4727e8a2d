from overcoat.exposure.reference import weigh_sets as weigh_sets
