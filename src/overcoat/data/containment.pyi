from overcoat.data.reference import contained_rows as contained_rows

MANY_ROWS: int
