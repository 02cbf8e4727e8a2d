from overcoat.kernels.repairs import repair as repair
