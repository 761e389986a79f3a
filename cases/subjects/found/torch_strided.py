"""torch 1.13 and 2.15: calls on gloo take tensors whose elements lie apart for dense ones.

all_reduce, reduce, broadcast and scatter leave elements out, and write between others (pytorch#192920).
"""
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing


def main(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/f", rank=rank, world_size=2)
    ones = [torch.ones(2)] * 2 if rank == 0 else None
    wrong = []
    for name, call, expected in (
        ("all_reduce", dist.all_reduce, 3),
        ("reduce", lambda tensor: dist.reduce(tensor, 0), 3 if rank == 0 else None),
        ("broadcast", lambda tensor: dist.broadcast(tensor, 0), 1),
        ("scatter", lambda tensor: dist.scatter(tensor, ones, 0), 1),
    ):
        whole = torch.zeros(4)
        whole[::2] = rank + 1
        call(whole[::2])
        # gloo may write to the tensors of other ranks than the root of reduce.
        if expected is not None and whole.tolist() != [expected, 0, expected, 0]:
            wrong.append(f"{name}: {whole.tolist()}, expected {[expected, 0, expected, 0]}")
    assert not wrong, wrong


if __name__ == "__main__":
    torch.multiprocessing.spawn(main, (tempfile.mkdtemp(),), nprocs=2)
