"""A subject with collectives of torch.distributed on gloo whose tensors may be like x[::2]."""
import rankcheck
import torch
import torch.distributed as dist

s = rankcheck.Subject(
    "torch-gloo-strided",
    launch=rankcheck.processes(),
    arrays="torch",
    types="int32 int64 f32 f64",
    groups="sorted",
    versions={"torch": torch.__version__},
)
STRIDES = {"send_stride": [1, 2], "recv_stride": [1, 2]}
OPS = {
    "sum": dist.ReduceOp.SUM, "prod": dist.ReduceOp.PRODUCT,
    "min": dist.ReduceOp.MIN, "max": dist.ReduceOp.MAX,
}


@s.setup
def _(me):
    dist.init_process_group("gloo", init_method=me.url, rank=me.rank, world_size=me.world)


@s.teardown
def _(me):
    dist.destroy_process_group()


s.group(dist.new_group)
s.free_group(dist.destroy_process_group)


@s.all_reduce(**STRIDES)
def _(call, send, recv):
    dist.all_reduce(recv.copy_(send), OPS[call.op], call.group)


@s.reduce(**STRIDES)
def _(call, send, recv):
    # gloo also writes to the buffers of ranks that are not the root.
    buffer = recv.copy_(send) if call.is_root else send.clone()
    dist.reduce(buffer, call.ranks[call.root], OPS[call.op], call.group)


@s.broadcast(**STRIDES)
def _(call, send, recv):
    dist.broadcast(recv.copy_(send) if call.is_root else recv, call.ranks[call.root], call.group)


# torch 1.13 divides by the number of elements, see found/torch_empty_all_gather.py.
@s.all_gather(empty=False, **STRIDES)
def _(call, send, recv):
    dist.all_gather(list(recv), send, call.group)


@s.gather(**STRIDES)
def _(call, send, recv):
    dist.gather(send, list(recv) if call.is_root else None, call.ranks[call.root], call.group)


@s.scatter(**STRIDES)
def _(call, send, recv):
    dist.scatter(recv, list(send) if call.is_root else None, call.ranks[call.root], call.group)


if __name__ == "__main__":
    s.serve()
