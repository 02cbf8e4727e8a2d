PACE: int
