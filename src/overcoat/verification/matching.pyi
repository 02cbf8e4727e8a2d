from overcoat.verification.reference import rows_match as rows_match
