from overcoat.kernels.reference import CountTree as CountTree
