"""A subject with the dense collectives of mpi4py: mpirun -n 4 python3 mpi4py_subject.py."""
import mpi4py
import rankcheck
from mpi4py import MPI

s = rankcheck.Subject(
    "mpi4py",
    launch=rankcheck.processes(launcher="mpirun -n {ranks}"),
    types="int8 uint8 int32 uint32 int64 uint64 f32 f64 complex64 complex128",
    versions={"mpi4py": mpi4py.__version__, "mpi": MPI.Get_library_version().split(",")[0]},
)
OPS = {"sum": MPI.SUM, "prod": MPI.PROD, "min": MPI.MIN, "max": MPI.MAX}
# Open MPI 4.1.4 saturates sums of 8 bits; MPI leaves overflow undefined. It also compares
# MPI_UNSIGNED_LONG, which mpi4py uses for uint64, as signed numbers: MPI_MAX and MPI_MIN are wrong.
REDUCED = "int32 uint32 int64 f32 f64 complex64 complex128"


@s.group
def _(ranks):
    return MPI.COMM_WORLD.Create(MPI.COMM_WORLD.group.Incl(ranks))


@s.free_group
def _(comm):
    # A process that is not in a group has MPI.COMM_NULL for it.
    if comm != MPI.COMM_NULL:
        comm.Free()


@s.barrier
def _(call):
    call.group.Barrier()


@s.all_reduce(types=REDUCED, in_place=True)
def _(call, send, recv):
    call.group.Allreduce(MPI.IN_PLACE if call.in_place else send, recv, OPS[call.op])


@s.reduce(types=REDUCED)
def _(call, send, recv):
    call.group.Reduce(send, recv, OPS[call.op], call.root)


@s.broadcast
def _(call, send, recv):
    if call.is_root:
        recv[...] = send
    call.group.Bcast(recv, call.root)


s.all_gather(lambda call, send, recv: call.group.Allgather(send, recv))
s.all_to_all(lambda call, send, recv: call.group.Alltoall(send, recv))
s.gather(lambda call, send, recv: call.group.Gather(send, recv, call.root))
s.scatter(lambda call, send, recv: call.group.Scatter(send, recv, call.root))


@s.reduce_scatter(types=REDUCED)
def _(call, send, recv):
    call.group.Reduce_scatter_block(send, recv, OPS[call.op])


if __name__ == "__main__":
    s.serve()
