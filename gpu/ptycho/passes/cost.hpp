#pragma once

#include <vector>

#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/kernels/pixel.hpp"
#include "gpu/ptycho/operator.hpp"
#include "gpu/ptycho/passes/fused_passes.hpp"

namespace rankcheck::gpu {

/// Compares one pixel of a frame, in all its modes.
template <class T, Noise noise>
struct ComparePixel {
  const Complex<T>* waves;
  const T* frames;
  const T* mask;
  Complex<T>* gradient;
  double* costs;
  std::int64_t modes;
  std::int64_t frame;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t first = i / frame * modes * frame + i % frame;
    T intensity = 0;
    for (std::int64_t m = 0; m < modes; ++m) intensity += norm(waves[first + m * frame]);
    Pixel<T> pixel;
    if (mask[i % frame] != 0) pixel = compare_pixel<noise>(intensity, frames[i]);
    costs[i] = static_cast<double>(pixel.cost);
    for (std::int64_t m = 0; m < modes; ++m) {
      gradient[first + m * frame] = pixel.factor * waves[first + m * frame];
    }
  }
};

/// Runs gaussian_cost or poisson_cost.
template <Noise noise>
void run_cost(const OperatorRun& run) {
  with_precision(run.call().type, [&]<class T>() {
    Cluster& cluster = run.cluster();
    std::vector<double*> totals;
    for (const int rank : run.local()) {
      const std::int64_t pixels = run.size(rank, spec::Array::frames);
      auto* const costs = cluster.allocate_array<double>(rank, pixels + 1);
      double* const total = costs + pixels;
      launch(cluster,
             rank,
             pixels,
             ComparePixel<T, noise>{.waves = run.in<Complex<T>>(rank, spec::Array::far_waves),
                                    .frames = run.in<T>(rank, spec::Array::frames),
                                    .mask = run.in<T>(rank, spec::Array::mask),
                                    .gradient = run.out<Complex<T>>(rank, spec::Array::far_waves),
                                    .costs = costs,
                                    .modes = run.scene().modes,
                                    .frame = spec::values(run.scene(), spec::Array::frames)});
      fill(cluster, rank, 1, total, 0.0);
      launch(cluster, rank, 1, AddSum{costs, total, pixels});
      totals.push_back(total);
    }
    run.put_cost(totals);
  });
}

/// Runs gaussian_cost or poisson_cost in one pass over the waves.
inline void run_fused_cost(const OperatorRun& run, Noise noise) {
  with_precision(run.call().type, [&]<class T>() {
    Cluster& cluster = run.cluster();
    FusedPasses<T> fused(cluster, run.scene());
    std::vector<double*> totals;
    for (const int rank : run.local()) {
      totals.push_back(cluster.allocate_array<double>(rank, 1));
      fill(cluster, rank, 1, totals.back(), 0.0);
      const ScanShare<T> scan{.frames = run.in<T>(rank, spec::Array::frames),
                              .mask = run.in<T>(rank, spec::Array::mask)};
      const std::int64_t of_wave = spec::values(run.scene(), spec::Array::far_waves);
      const auto* const waves = run.in<Complex<T>>(rank, spec::Array::far_waves);
      auto* const gradient = run.out<Complex<T>>(rank, spec::Array::far_waves);
      fused.for_each_batch(run.positions(rank), [&](Batch batch) {
        fused.compare(rank,
                      noise,
                      scan,
                      batch,
                      1,
                      1,
                      waves + batch.first * of_wave,
                      gradient + batch.first * of_wave,
                      totals.back());
      });
    }
    run.put_cost(totals);
  });
}

}  // namespace rankcheck::gpu
