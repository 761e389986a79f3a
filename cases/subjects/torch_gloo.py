"""A subject with the collectives of torch.distributed on gloo: one process for each rank."""
import warnings

import rankcheck
import torch
import torch.distributed as dist

IS_2 = int(torch.__version__.split(".")[0]) >= 2
REAL = "int8 uint8 int32 int64 f16 f32 f64" + (" bf16" if IS_2 else "")
ALL = REAL + " complex64 complex128"
s = rankcheck.Subject(
    "torch-gloo",
    launch=rankcheck.processes(),
    arrays="torch",
    types=ALL,
    groups="sorted",
    versions={"torch": torch.__version__},
)
OPS = {
    "sum": dist.ReduceOp.SUM, "prod": dist.ReduceOp.PRODUCT,
    "min": dist.ReduceOp.MIN, "max": dist.ReduceOp.MAX,
}
# all_reduce_coalesced says in every call that it is deprecated.
warnings.filterwarnings("ignore", message=".*all_reduce_coalesced")


@s.setup
def _(me):
    dist.init_process_group("gloo", init_method=me.url, rank=me.rank, world_size=me.world)


@s.teardown
def _(me):
    dist.destroy_process_group()


s.group(dist.new_group)
s.free_group(dist.destroy_process_group)
s.barrier(lambda call: dist.barrier(call.group, async_op=True).wait, starts=True)


@s.all_reduce(in_place=True, starts=True)
def _(call, send, recv):
    return dist.all_reduce(recv.copy_(send), OPS[call.op], call.group, async_op=True).wait


@s.reduce(types=ALL if IS_2 else REAL)
def _(call, send, recv):
    # gloo also writes to the buffers of ranks that are not the root.
    buffer = recv.copy_(send) if call.is_root else send.clone()
    dist.reduce(buffer, call.ranks[call.root], OPS[call.op], call.group)


@s.broadcast(types=ALL if IS_2 else REAL, in_place=True, starts=True)
def _(call, send, recv):
    buffer = recv.copy_(send) if call.is_root else recv
    return dist.broadcast(buffer, call.ranks[call.root], call.group, async_op=True).wait


# torch 1.13 divides by the number of elements, see found/torch_empty_all_gather.py.
@s.all_gather(empty=IS_2, starts=True)
def _(call, send, recv):
    return dist.all_gather(list(recv), send, call.group, async_op=True).wait


@s.gather(types=REAL, starts=True)
def _(call, send, recv):
    rows = list(recv) if call.is_root else None
    return dist.gather(send, rows, call.ranks[call.root], call.group, async_op=True).wait


@s.scatter(starts=True)
def _(call, send, recv):
    rows = list(send) if call.is_root else None
    return dist.scatter(recv, rows, call.ranks[call.root], call.group, async_op=True).wait


@s.all_to_all(starts=True)
def _(call, send, recv):
    return dist.all_to_all_single(recv, send, group=call.group, async_op=True).wait


def reduce_scatter(call, send, recv):
    dist.reduce_scatter(recv, list(send), OPS[call.op], call.group)


if IS_2:
    s.reduce_scatter(reduce_scatter)


# The dense collectives end here. What follows is what else the library does.
@s.all_to_all_v
def _(call, send, recv):
    # torch takes blocks without gaps between them.
    packed = torch.cat(list(send))
    result = packed.new_empty(sum(recv.counts))
    dist.all_to_all_single(result, packed, recv.counts, send.counts, call.group)
    for block, part in zip(recv, result.split(recv.counts)):
        block.copy_(part)


@s.all_reduce_list
def _(call, send, recv):
    for to, array in zip(recv, send):
        to.copy_(array)
    # torch says in an error that it takes no empty list. Then there is nothing to do.
    if recv:
        dist.all_reduce_coalesced(list(recv), OPS[call.op], call.group)


@s.send_recv
def _(call, send, recv):
    # torch does not let a rank send to itself.
    if call.target == call.rank:
        recv.copy_(send)
        return
    request = None
    if call.target is not None:
        request = dist.isend(send, call.ranks[call.target], call.group)
    if call.source is not None:
        dist.recv(recv, call.ranks[call.source], call.group)
    if request is not None:
        request.wait()


if __name__ == "__main__":
    s.serve()
