from overcoat.kernels.finders import SetFinder as SetFinder
