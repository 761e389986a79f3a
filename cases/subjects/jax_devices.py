"""A subject with the collectives of JAX. Its ranks are devices of the host in one process."""
import functools
import threading

import jax
import numpy as np
import rankcheck
from jax import lax

s = rankcheck.Subject(
    "jax-devices", launch=rankcheck.one_process(ranks=8), versions={"jax": jax.__version__}
)
REDUCTIONS = {"sum": lax.psum, "min": lax.pmin, "max": lax.pmax}


@s.setup
def _(me):
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", me.world)
    jax.config.update("jax_enable_x64", True)


@s.group
class Group:
    """Devices that run a function together. The thread of a rank brings what its device gets."""

    def __init__(self, ranks):
        self.mesh = jax.sharding.Mesh([jax.devices()[rank] for rank in ranks], "r")
        self.sends = [None] * len(ranks)
        self.targets = [None] * len(ranks)
        self.barrier = threading.Barrier(len(ranks), action=self.run)

    def call(self, call, send, name):
        """Returns what the collective of this name gives on the device of this rank."""
        self.name, self.op, self.root = name, call.op, call.root
        self.sends[call.rank], self.targets[call.rank] = send, call.target
        self.barrier.wait()
        return self.results[call.rank]

    def run(self):
        """Runs the collective in the thread that comes last."""
        like = next(each for each in self.sends if each is not None)
        rows = np.stack([np.zeros_like(like) if each is None else each for each in self.sends])
        pairs = tuple((q, to) for q, to in enumerate(self.targets) if to is not None)
        function = program(self.mesh, self.name, self.op, self.root, pairs)
        self.results = np.asarray(function(rows))


@functools.lru_cache(maxsize=None)
def program(mesh, name, op, root, pairs):
    """Returns a function that all devices run. Its arrays have a row for each device."""
    functions = {
        "all_reduce": lambda row: REDUCTIONS[op](row, "r"),
        "all_gather": lambda row: lax.all_gather(row, "r"),
        "reduce_scatter": lambda row: lax.psum_scatter(row, "r"),
        "all_to_all": lambda row: lax.all_to_all(row, "r", 0, 0),
        "broadcast": lambda row: lax.pbroadcast(row, "r", root),
        "send_recv": lambda row: lax.ppermute(row, "r", pairs),
    }
    spec = jax.sharding.PartitionSpec("r")
    return jax.jit(
        jax.shard_map(
            lambda rows: functions[name](rows[0])[None],
            mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False,
        )
    )


def offer(decorator, name):
    """Makes a function of the subject that writes what the collective gives into recv."""

    def function(call, send, recv):
        result = call.group.call(call, send, name)
        if name != "send_recv" or call.source is not None:
            recv[...] = result

    decorator(function)


offer(s.all_reduce(ops="sum min max"), "all_reduce")
offer(s.reduce_scatter(ops="sum"), "reduce_scatter")
offer(s.all_gather, "all_gather")
offer(s.all_to_all, "all_to_all")
offer(s.broadcast, "broadcast")
offer(s.send_recv, "send_recv")

if __name__ == "__main__":
    s.serve()
