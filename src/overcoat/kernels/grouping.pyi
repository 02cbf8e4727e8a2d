from overcoat.kernels.reference import Grouping as Grouping
from overcoat.kernels.reference import loses_less as loses_less
