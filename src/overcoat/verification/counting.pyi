from overcoat.verification.reference import index_of as index_of
from overcoat.verification.reference import shared_labels as shared_labels
from overcoat.verification.reference import weakest_sets as weakest_sets
