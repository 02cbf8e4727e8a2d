from overcoat.measures.reference import set_supports as set_supports
