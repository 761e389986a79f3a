"""JAX 0.10.2: the sum of one subnormal number over devices of the host is 0."""
import jax
import numpy as np

jax.config.update("jax_num_cpu_devices", 2)
mesh = jax.sharding.Mesh(jax.devices(), "r")
spec = jax.sharding.PartitionSpec("r")
total = jax.shard_map(lambda x: jax.lax.psum(x, "r"), mesh=mesh, in_specs=spec, out_specs=spec)
sent = np.array([1e-40, 0], np.float32)
got = np.asarray(jax.jit(total)(sent))
assert got[0] == sent[0], f"expected {sent[0]}, got {got[0]}"
