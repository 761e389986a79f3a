#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/passes/fused_passes.hpp"
#include "gpu/ptycho/registry.hpp"

/// The operators illuminate and multislice and their adjoints, by the passes of the model.
namespace rankcheck::gpu {

namespace {

using spec::Array;

void run_fused_illuminate(const OperatorRun& run) {
  with_precision(run.call().type, [&]<class T>() {
    FusedPasses<T> fused(run.cluster(), run.scene());
    for (const int rank : run.local()) {
      const ScanShare<T> scan{.object = run.in<Complex<T>>(rank, Array::object),
                              .probe = run.in<Complex<T>>(rank, Array::probe),
                              .positions = run.in<T>(rank, Array::positions)};
      auto* const waves = run.out<Complex<T>>(rank, Array::waves);
      fused.illuminate(rank, scan, {.count = run.positions(rank)}, waves);
    }
  });
}

/// Fills an output array, the object or the probe, with zeros, on all local ranks.
template <class T, Array output>
void fill_with_zeros(const OperatorRun& run) {
  for (const int rank : run.local()) {
    auto* const out = run.out<Complex<T>>(rank, output);
    fill(run.cluster(), rank, run.size(rank, output), out, Complex<T>{});
  }
}

/// Sums an output array, the object or the probe, over all ranks. A varying probe has no sum.
void sum_adjoint(const OperatorRun& run, Array output) {
  if (!spec::is_per_position(run.scene(), output)) run.sum_over_ranks(output);
}

/// The adjoint of illuminate in the object or in the probe.
template <Array output>
void run_fused_adjoint(const OperatorRun& run) {
  constexpr bool is_object = output == Array::object;
  with_precision(run.call().type, [&]<class T>() {
    FusedPasses<T> fused(run.cluster(), run.scene());
    const std::int64_t of_wave = spec::values(run.scene(), Array::waves);
    fill_with_zeros<T, output>(run);
    for (const int rank : run.local()) {
      ScanShare<T> scan{.positions = run.in<T>(rank, Array::positions)};
      (is_object ? scan.probe : scan.object) =
          run.in<Complex<T>>(rank, is_object ? Array::probe : Array::object);
      const auto* const waves = run.in<Complex<T>>(rank, Array::waves);
      auto* const out = run.out<Complex<T>>(rank, output);
      fused.for_each_batch(run.positions(rank), [&](Batch batch) {
        if constexpr (is_object) {
          fused.add_to_object(rank, scan, batch, waves + batch.first * of_wave, out);
        } else {
          fused.add_to_probe(rank, scan, batch, waves + batch.first * of_wave, out);
        }
      });
    }
  });
  sum_adjoint(run, output);
}

/// multislice, or its adjoint in the object or in the probe.
template <Array output>
void run_batched(const OperatorRun& run) {
  with_precision(run.call().type, [&]<class T>() {
    BatchedPasses<T> passes(run.cluster(), run.scene());
    const std::int64_t of_wave = spec::values(run.scene(), Array::waves);
    if constexpr (output != Array::waves) fill_with_zeros<T, output>(run);
    for (const int rank : run.local()) {
      // The adjoint in the probe has no probe among its inputs.
      const ScanShare<T> scan{
          .object = run.in<Complex<T>>(rank, Array::object),
          .probe = output == Array::probe ? nullptr : run.in<Complex<T>>(rank, Array::probe),
          .positions = run.in<T>(rank, Array::positions)};
      auto* const out = run.out<Complex<T>>(rank, output);
      passes.for_each_batch(run.positions(rank), [&](Batch batch) {
        const std::int64_t first = batch.first * of_wave;
        if constexpr (output == Array::waves) {
          passes.forward(rank, scan, batch, out + first);
        } else {
          const auto* const waves = run.in<Complex<T>>(rank, Array::waves) + first;
          passes.forward(rank, scan, batch, nullptr);
          passes.backward(rank,
                          scan,
                          batch,
                          waves,
                          output == Array::object ? out : nullptr,
                          output == Array::probe ? out : nullptr);
        }
      });
    }
  });
  if (output != Array::waves) sum_adjoint(run, output);
}

}  // namespace

std::vector<OperatorImplementation> algorithms_of_illumination() {
  return {
      {"illuminate",
       {.name = "fused",
        .summary =
            "Each thread computes a few pixels of a frame and reads the object once for all modes.",
        .run = run_fused_illuminate}},
      {"illuminate_adjoint_object",
       {.name = "fused",
        .summary = "Each thread computes a few pixels of the object and sums over the windows near "
                   "its tile.",
        .run = run_fused_adjoint<Array::object>,
        .in_batches = true}},
      {"illuminate_adjoint_probe",
       {.name = "fused",
        .summary = "Each thread sums a few pixels of the probe over a group of positions. Then the "
                   "groups are summed.",
        .run = run_fused_adjoint<Array::probe>,
        .in_batches = true}},
      {"multislice",
       {.name = "batched",
        .summary = "Waves travel from slice to slice, one batch of positions at a time.",
        .run = run_batched<Array::waves>,
        .in_batches = true}},
      {"multislice_adjoint_object",
       {.name = "batched",
        .summary = "Waves travel forward and back through the slices, one batch of positions at a "
                   "time. Then the results are summed.",
        .run = run_batched<Array::object>,
        .in_batches = true}},
      {"multislice_adjoint_probe",
       {.name = "batched",
        .summary = "Waves travel back through the slices, one batch of positions at a time. Then "
                   "the results are summed.",
        .run = run_batched<Array::probe>,
        .in_batches = true}},
  };
}

}  // namespace rankcheck::gpu
