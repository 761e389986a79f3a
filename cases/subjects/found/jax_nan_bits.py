"""JAX 0.10.2: devices of the host that pass a NaN of bfloat16 on receive another NaN."""
import jax
import numpy as np

jax.config.update("jax_num_cpu_devices", 2)
mesh = jax.sharding.Mesh(jax.devices(), "r")
spec = jax.sharding.PartitionSpec("r")
swap = jax.shard_map(
    lambda x: jax.lax.ppermute(x, "r", [(0, 1), (1, 0)]), mesh=mesh, in_specs=spec, out_specs=spec
)
sent = np.array([0x7FC1, 0x3F80], np.uint16)
got = np.asarray(jax.jit(swap)(sent.view(jax.numpy.bfloat16))).view(np.uint16)
assert got[0] == 0x3F80
assert got[1] == 0x7FC1, f"sent the NaN 0x7fc1, got {got[1]:#x}"
