"""Open MPI 4.1.4: some sums of 8-bit numbers saturate, others wrap: mpirun -n 2 python3 FILE."""
import numpy as np
from mpi4py import MPI

send = np.full(65, 100, np.int8)
recv = np.zeros(65, np.int8)
MPI.COMM_WORLD.Allreduce(send, recv, MPI.SUM)
assert len(set(recv.tolist())) == 1, f"100 + 100 is {sorted(set(recv.tolist()))}"
