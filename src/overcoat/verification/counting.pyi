from overcoat.verification.reference import image_supports as image_supports
from overcoat.verification.reference import rows_match as rows_match
from overcoat.verification.reference import shared_labels as shared_labels
from overcoat.verification.reference import weakest_sets as weakest_sets
