"""torch 1.13: all_gather of tensors without elements on gloo ends the process by SIGFPE."""
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing


def main(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/f", rank=rank, world_size=2)
    dist.all_gather([torch.empty(0), torch.empty(0)], torch.empty(0))


if __name__ == "__main__":
    torch.multiprocessing.spawn(main, (tempfile.mkdtemp(),), nprocs=2)
