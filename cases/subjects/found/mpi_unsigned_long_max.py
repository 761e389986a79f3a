"""Open MPI 4.1.4 compares MPI_UNSIGNED_LONG as signed numbers: mpirun -n 2 python3 FILE."""
import numpy as np
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank
send = np.array([2**63 + 1 if rank == 0 else 1], np.uint64)
recv = np.zeros(1, np.uint64)
MPI.COMM_WORLD.Allreduce(send, recv, MPI.MAX)
assert recv[0] == 2**63 + 1, f"the greatest of {2**63 + 1} and 1 is {recv[0]}"
