#include <string_view>
#include <vector>

#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/kernels/pixel.hpp"
#include "gpu/ptycho/passes/fused_passes.hpp"
#include "gpu/ptycho/passes/model.hpp"
#include "gpu/ptycho/registry.hpp"

namespace rankcheck::gpu {

namespace {

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
void run_fused_cost(const OperatorRun& run, Noise noise) {
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

/// A local rank's share of the problem, from its input arrays.
template <class T>
ScanShare<T> scan_of(const OperatorRun& run, int rank) {
  return {.object = run.in<Complex<T>>(rank, spec::Array::object),
          .probe = run.in<Complex<T>>(rank, spec::Array::probe),
          .positions = run.in<T>(rank, spec::Array::positions),
          .frames = run.in<T>(rank, spec::Array::frames),
          .mask = run.in<T>(rank, spec::Array::mask),
          .count = run.positions(rank)};
}

/// Runs gaussian_gradients or poisson_gradients. Starts from zeros, adds the part of every local
/// rank, then sums over the ranks.
void run_gradients(const OperatorRun& run, Noise noise, Passes passes) {
  with_precision(run.call().type, [&]<class T>() {
    Cluster& cluster = run.cluster();
    Model<T> model(cluster, run.scene(), noise, passes);
    std::vector<double*> costs;
    for (const int rank : run.local()) {
      const Gradients<T> out{.object = run.out<Complex<T>>(rank, spec::Array::object),
                             .probe = run.out<Complex<T>>(rank, spec::Array::probe),
                             .cost = cluster.allocate_array<double>(rank, 1)};
      fill(cluster, rank, run.size(rank, spec::Array::object), out.object, Complex<T>{});
      fill(cluster, rank, run.size(rank, spec::Array::probe), out.probe, Complex<T>{});
      fill(cluster, rank, 1, out.cost, 0.0);
      model.add(rank, scan_of<T>(run, rank), out);
      costs.push_back(out.cost);
    }
    run.sum_over_ranks(spec::Array::object);
    if (!run.scene().varying_probe) run.sum_over_ranks(spec::Array::probe);
    run.put_cost(costs);
  });
}

std::string_view refuses_slices(const spec::OperatorCall& call) {
  return call.scene.slices > 1 ? "one slice only" : std::string_view{};
}

/// Adds the algorithms of the operations <name>_cost and <name>_gradients of a noise model.
template <Noise noise>
void add_noise(std::string_view cost,
               std::string_view gradients,
               std::vector<OperatorImplementation>& all) {
  all.push_back({cost,
                 {.name = "fused",
                  .summary = "One pass computes intensity, cost and gradient. Each thread computes "
                             "several pixels of a frame.",
                  .run = [](const OperatorRun& run) { run_fused_cost(run, noise); },
                  .in_batches = true}});
  all.push_back({cost,
                 {.name = "pixelwise",
                  .summary = "One thread computes each pixel of a frame. The costs are summed by "
                             "row, by rank and over all ranks.",
                  .run = run_cost<noise>}});
  all.push_back(
      {gradients,
       {.name = "batched",
        .summary = "The whole chain runs for one batch of frames at a time, then the ranks' "
                   "results are summed.",
        .run = [](const OperatorRun& run) { run_gradients(run, noise, Passes::batched); },
        .in_batches = true}});
  all.push_back(
      {gradients,
       {.name = "fused",
        .summary = "The chain runs in five passes and two transforms over large batches. The "
                   "object has one slice.",
        .refuses = refuses_slices,
        .run = [](const OperatorRun& run) { run_gradients(run, noise, Passes::fused); },
        .in_batches = true}});
}

}  // namespace

std::vector<OperatorImplementation> algorithms_of_costs() {
  std::vector<OperatorImplementation> all;
  add_noise<Noise::gaussian>("gaussian_cost", "gaussian_gradients", all);
  add_noise<Noise::poisson>("poisson_cost", "poisson_gradients", all);
  return all;
}

}  // namespace rankcheck::gpu
