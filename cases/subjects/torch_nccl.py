"""A subject with the collectives of torch.distributed on NCCL: a process for each rank. Ranks may share a GPU."""
import os

import rankcheck
import torch
import torch.distributed as dist

s = rankcheck.Subject(
    "torch-nccl",
    launch=rankcheck.processes(),
    arrays="torch",
    types="int8 uint8 int32 int64 f16 bf16 f32 f64",
    groups="sorted",
    versions={"torch": torch.__version__, "nccl": ".".join(map(str, torch.cuda.nccl.version()))}
    if torch.cuda.is_available()
    else {"torch": torch.__version__},
)
# Ranks may share a GPU, so one is enough for a test.
RANKS_MAX = 8 if torch.cuda.is_available() else 0
OPS = {
    "sum": dist.ReduceOp.SUM, "prod": dist.ReduceOp.PRODUCT,
    "min": dist.ReduceOp.MIN, "max": dist.ReduceOp.MAX,
}


@s.setup
def _(me):
    gpus = torch.cuda.device_count()
    if gpus == 0:
        raise SystemExit("torch-nccl: found no GPU, expected one")
    if me.world > gpus:
        # NCCL refuses two ranks on one GPU, unless they seem to be on different hosts.
        os.environ.update(
            NCCL_HOSTID=f"rank-{me.rank}", NCCL_NET="Socket", NCCL_SOCKET_IFNAME="lo",
            NCCL_MAX_NCHANNELS="1",
        )
    torch.cuda.set_device(me.rank % gpus)
    dist.init_process_group("nccl", init_method=me.url, rank=me.rank, world_size=me.world)


@s.teardown
def _(me):
    dist.destroy_process_group()


s.group(dist.new_group)
s.free_group(dist.destroy_process_group)


@s.barrier
def _(call):
    dist.barrier(call.group)
    # The call returns when its work is in the queue of the device.
    torch.cuda.synchronize()


# The arrays are on the host, and NCCL takes those of a device. copy_ waits for the device.
@s.all_reduce
def _(call, send, recv):
    buffer = send.cuda()
    dist.all_reduce(buffer, OPS[call.op], call.group)
    recv.copy_(buffer)


@s.reduce
def _(call, send, recv):
    buffer = send.cuda()
    dist.reduce(buffer, call.ranks[call.root], OPS[call.op], call.group)
    if call.is_root:
        recv.copy_(buffer)


@s.broadcast
def _(call, send, recv):
    buffer = send.cuda() if call.is_root else torch.empty_like(recv, device="cuda")
    dist.broadcast(buffer, call.ranks[call.root], call.group)
    recv.copy_(buffer)


@s.all_gather
def _(call, send, recv):
    buffer = torch.empty_like(recv, device="cuda")
    dist.all_gather_into_tensor(buffer, send.cuda(), call.group)
    recv.copy_(buffer)


@s.reduce_scatter
def _(call, send, recv):
    buffer = torch.empty_like(recv, device="cuda")
    dist.reduce_scatter_tensor(buffer, send.cuda(), OPS[call.op], call.group)
    recv.copy_(buffer)


@s.all_to_all
def _(call, send, recv):
    buffer = torch.empty_like(recv, device="cuda")
    dist.all_to_all_single(buffer, send.cuda(), group=call.group)
    recv.copy_(buffer)


if __name__ == "__main__":
    s.serve()
