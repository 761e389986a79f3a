#pragma once

#include <cstdint>

#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/passes/batched_passes.hpp"

namespace rankcheck::gpu {

/// A batch of a rank's positions.
template <class T>
struct RankBatch {
  int rank;
  const ScanShare<T>& scan;
  Batch batch;
  /// The index of the batch's first value in the rank's array of waves.
  std::int64_t first_wave;
};

/// Calls body(passes, batch) for batches of all positions of the local ranks. The scan has a
/// probe only if `has_probe`, which says that the probe is an input.
template <class T, class Body>
void through_slices(const OperatorRun& run, bool has_probe, const Body& body) {
  BatchedPasses<T> passes(run.cluster(), run.scene());
  const std::int64_t size = spec::values(run.scene(), spec::Array::waves);
  for (const int rank : run.local()) {
    const ScanShare<T> scan{
        .object = run.in<Complex<T>>(rank, spec::Array::object),
        .probe = has_probe ? run.in<Complex<T>>(rank, spec::Array::probe) : nullptr,
        .positions = run.in<T>(rank, spec::Array::positions),
        .count = run.positions(rank)};
    passes.for_each_batch(scan.count, [&](Batch batch) {
      body(passes, RankBatch<T>{rank, scan, batch, batch.first * size});
    });
  }
}

}  // namespace rankcheck::gpu
