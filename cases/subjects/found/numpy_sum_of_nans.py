"""numpy 1.24.2: which of two NaN a sum keeps depends on where the arrays lie in memory."""
import itertools

import numpy as np

x, y = np.array([0x7FF8000000000001, 0x7FF8000000000002], np.uint64).view(np.float64)
kept = set()
for places in itertools.product(range(4), repeat=3):
    first, second, total = (np.zeros(16)[place : place + 12] for place in places)
    first[:], second[:] = x, y
    np.add(first, second, out=total)
    kept.add(tuple((total.view(np.uint64) & 3).tolist()))
assert len(kept) == 1, f"the numbers of the NaN that were kept: {sorted(kept)}"
