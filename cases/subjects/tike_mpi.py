"""A subject with the MPIComm of tike, by hand: mpirun -n 4 python3 tike_mpi.py. No GPU is needed."""
import sys
import types
import warnings

import numpy as np
import rankcheck

try:
    import cupy  # noqa: F401
except ImportError:
    # MPIComm takes numpy arrays, too, but its module imports CuPy.
    stream = types.SimpleNamespace(synchronize=lambda: None)
    stub = types.ModuleType("cupy")
    stub.__dict__.update({name: getattr(np, name) for name in dir(np) if name[0] != "_"})
    stub.asnumpy, stub.get_array_module = np.asarray, lambda *arrays: np
    stub.cuda = types.SimpleNamespace(
        get_current_stream=lambda: stream, Stream=object, Device=object
    )
    sys.modules["cupy"] = stub
warnings.filterwarnings("ignore", message="GPU-Aware Open MPI not detected")
from mpi4py import MPI  # noqa: E402
import tike  # noqa: E402
from tike.communicators.mpi import MPIComm  # noqa: E402

# mpi4py_subject.py says why MPI does not reduce other types.
REDUCED = "int32 uint32 int64 f32 f64 complex64 complex128"
s = rankcheck.Subject(
    "tike-mpi",
    launch=rankcheck.processes(launcher="mpirun -n {ranks}"),
    types="int8 uint8 int32 uint32 int64 uint64 f32 f64 complex64 complex128",
    # MPIComm has no other communicator than the world.
    groups="world",
    versions={"tike": tike.__version__, "mpi": MPI.Get_library_version().split(",")[0]},
)
OPS = {"sum": MPI.SUM, "prod": MPI.PROD, "min": MPI.MIN, "max": MPI.MAX}
comm = MPIComm()


@s.all_reduce(types=REDUCED)
def _(call, send, recv):
    recv[...] = comm.Allreduce(send, OPS[call.op])


@s.broadcast
def _(call, send, recv):
    recv[...] = comm.Bcast(recv if send is None else send, call.root)


@s.all_gather
def _(call, send, recv):
    recv[...] = comm.Allgather(send, None)


@s.gather
def _(call, send, recv):
    result = comm.Gather(send, None, call.root)
    if call.is_root:
        recv[...] = result


@s.all_gather_axis
def _(call, send, recv):
    recv[...] = comm.Allgather(send, 1)


@s.gather_axis
def _(call, send, recv):
    result = comm.Gather(send, 1, call.root)
    if call.is_root:
        recv[...] = result


if __name__ == "__main__":
    s.serve()
