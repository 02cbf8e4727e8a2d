from overcoat.data.reference import Tokenizer as Tokenizer
from overcoat.data.reference import format_rows as format_rows

MOST_LABELS: int
