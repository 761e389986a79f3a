"""A subject with the NCCLBackend of CuPy: a process for each rank. Ranks may share a GPU."""
import os
import zlib

import cupy
import rankcheck
from cupy.cuda import nccl
from cupyx.distributed import NCCLBackend

REAL = "int8 uint8 int32 uint32 int64 uint64 f16 f32 f64"
s = rankcheck.Subject(
    "cupy-nccl",
    launch=rankcheck.processes(),
    types=REAL + " complex64 complex128",
    # NCCLBackend has no other communicator than the world.
    groups="world",
    versions={"cupy": cupy.__version__, "nccl": str(nccl.get_version())},
)
# Ranks may share a GPU, so one is enough for a test.
RANKS_MAX = 8 if cupy.is_available() else 0


@s.setup
def _(me):
    global comm
    gpus = cupy.cuda.runtime.getDeviceCount()
    if me.world > gpus:
        # NCCL refuses two ranks on one GPU, unless they seem to be on different hosts.
        os.environ.update(
            NCCL_HOSTID=f"rank-{me.rank}", NCCL_NET="Socket", NCCL_SOCKET_IFNAME="lo",
            NCCL_MAX_NCHANNELS="1",
        )
    cupy.cuda.Device(me.rank % gpus).use()
    # The ranks meet at a port. me.url is a file that only these ranks know, so its name gives one.
    comm = NCCLBackend(me.world, me.rank, port=20000 + zlib.crc32(me.url.encode()) % 10000)


@s.teardown
def _(me):
    # While the object exists, the process of its meeting place runs, and Python waits for it.
    global comm
    comm = None


@s.barrier
def _(call):
    cupy.cuda.get_current_stream().synchronize()
    comm.barrier()


# NCCLBackend reduces complex numbers only with their sum. asnumpy() waits for its stream.
@s.all_reduce(types=REAL)
def _(call, send, recv):
    out = cupy.empty(send.shape, send.dtype)
    comm.all_reduce(cupy.asarray(send), out, call.op)
    recv[...] = cupy.asnumpy(out)


@s.reduce(types=REAL)
def _(call, send, recv):
    out = cupy.empty(send.shape, send.dtype)
    comm.reduce(cupy.asarray(send), out, call.root, call.op)
    if call.is_root:
        recv[...] = cupy.asnumpy(out)


@s.broadcast
def _(call, send, recv):
    buffer = cupy.asarray(send) if call.is_root else cupy.empty(recv.shape, recv.dtype)
    comm.broadcast(buffer, call.root)
    recv[...] = cupy.asnumpy(buffer)


@s.reduce_scatter(types=REAL)
def _(call, send, recv):
    out = cupy.empty(recv.shape, recv.dtype)
    comm.reduce_scatter(cupy.asarray(send), out, call.count, call.op)
    recv[...] = cupy.asnumpy(out)


@s.all_gather
def _(call, send, recv):
    out = cupy.empty(recv.shape, recv.dtype)
    comm.all_gather(cupy.asarray(send), out, call.count)
    recv[...] = cupy.asnumpy(out)


@s.all_to_all
def _(call, send, recv):
    out = cupy.empty(recv.shape, recv.dtype)
    comm.all_to_all(cupy.asarray(send), out)
    recv[...] = cupy.asnumpy(out)


@s.gather
def _(call, send, recv):
    out = cupy.empty(recv.shape, recv.dtype)
    comm.gather(cupy.asarray(send), out, call.root)
    if call.is_root:
        recv[...] = cupy.asnumpy(out)


@s.scatter
def _(call, send, recv):
    out = cupy.empty(recv.shape, recv.dtype)
    # Only the root's array is read, but the shapes of all ranks' arrays are checked.
    whole = cupy.asarray(send) if call.is_root else cupy.empty((call.size, call.count), recv.dtype)
    comm.scatter(whole, out, call.root)
    recv[...] = cupy.asnumpy(out)


@s.send_recv
def _(call, send, recv):
    out = cupy.empty(recv.shape, recv.dtype)
    buffer = None if send is None else cupy.asarray(send)
    # NCCLBackend.send_recv knows one peer for both directions.
    nccl.groupStart()
    if call.target is not None:
        comm.send(buffer, call.target)
    if call.source is not None:
        comm.recv(out, call.source)
    nccl.groupEnd()
    if call.source is not None:
        recv[...] = cupy.asnumpy(out)


if __name__ == "__main__":
    s.serve()
