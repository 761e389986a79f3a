"""A subject with the collectives of JAX. Its ranks are devices of the host in one process."""
import functools
import threading

import jax
import numpy as np
import rankcheck
from jax import lax

# JAX 0.10.2 changes the bits of NaN when it moves bf16 or f8e5m2 between devices of the host, see
# found/jax_nan_bits.py, so these types are only reduced.
MOVED = "int8 uint8 int32 uint32 int64 uint64 f16 f32 f64 complex64 complex128 f8e4m3"
s = rankcheck.Subject(
    "jax-devices",
    launch=rankcheck.one_process(ranks=8),
    types=MOVED,
    versions={"jax": jax.__version__},
    nan_rule="propagates",
)
# XLA takes subnormal numbers for 0 on the host, see found/jax_subnormal_sum.py.
REDUCED = {
    "types": MOVED.replace("f8e4m3", "bf16"),
    "inputs": "general coded exact cancelling wide_range",
}
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
        self.name, self.op = name, call.op
        self.sends[call.rank], self.targets[call.rank] = send, call.target
        self.barrier.wait()
        return self.results[call.rank]

    def run(self):
        """Runs the collective in the thread that comes last."""
        pairs = tuple((q, to) for q, to in enumerate(self.targets) if to is not None)
        function = program(self.mesh, self.name, self.op, pairs)
        self.results = np.asarray(function(np.stack(self.sends)))


@functools.lru_cache(maxsize=None)
def program(mesh, name, op, pairs):
    """Returns a function that all devices run. Its arrays have a row for each device."""
    functions = {
        "all_reduce": lambda row: REDUCTIONS[op](row, "r"),
        "all_gather": lambda row: lax.all_gather(row, "r"),
        "reduce_scatter": lambda row: lax.psum_scatter(row, "r"),
        "all_to_all": lambda row: lax.all_to_all(row, "r", 0, 0),
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
        # A device takes part even if its rank has nothing to send.
        result = call.group.call(call, np.zeros_like(recv) if send is None else send, name)
        if name != "send_recv" or call.source is not None:
            recv[...] = result

    decorator(function)


offer(s.all_reduce(ops="sum min max", **REDUCED), "all_reduce")
offer(s.reduce_scatter(ops="sum", **REDUCED), "reduce_scatter")
offer(s.all_gather, "all_gather")
offer(s.all_to_all, "all_to_all")
offer(s.send_recv, "send_recv")

if __name__ == "__main__":
    s.serve()
