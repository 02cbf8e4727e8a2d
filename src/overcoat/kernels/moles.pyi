from overcoat.kernels.reference import find_moles as find_moles
