from overcoat.verification.reference import image_supports as image_supports
from overcoat.verification.reference import weakest_parts as weakest_parts
