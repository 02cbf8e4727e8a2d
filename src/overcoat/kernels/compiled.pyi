from overcoat.kernels.reference import Grouping as Grouping
