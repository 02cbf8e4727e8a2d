from overcoat.data.reference import canonical_rows as canonical_rows
from overcoat.data.reference import first_unsorted as first_unsorted
from overcoat.data.reference import gathered_rows as gathered_rows
from overcoat.data.reference import item_supports as item_supports
from overcoat.data.reference import rows_by_item as rows_by_item

MANY_ROWS: int
PART: int
SAMPLE: int
