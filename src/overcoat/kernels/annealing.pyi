from overcoat.kernels.moves import Annealing as Annealing
