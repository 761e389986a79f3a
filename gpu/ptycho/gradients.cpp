#include "gpu/ptycho/gradients.hpp"

#include <vector>

#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/fused.hpp"
#include "gpu/ptycho/transform.hpp"

namespace rankcheck::gpu {

namespace {

/// Calls add(rank, exposure, out) for every rank, with zeros to add to, then sums over the ranks.
template <class T, class Add>
void run_typed(const OperatorRun& run, const Add& add) {
  Cluster& cluster = run.cluster();
  std::vector<double*> costs;
  for (const int rank : run.local()) {
    const Gradients<T> out{.object = run.out<Complex<T>>(rank, spec::Array::object),
                           .probe = run.out<Complex<T>>(rank, spec::Array::probe),
                           .cost = cluster.allocate_array<double>(rank, 1)};
    for (const spec::Array array : {spec::Array::object, spec::Array::probe}) {
      Complex<T>* const values = array == spec::Array::object ? out.object : out.probe;
      fill(cluster, rank, run.size(rank, array), values, Complex<T>{});
    }
    fill(cluster, rank, 1, out.cost, 0.0);
    add(rank, exposure_of<T>(run, rank), out);
    costs.push_back(out.cost);
  }
  run.sum_over_ranks(spec::Array::object);
  if (!run.scene().varying_probe) run.sum_over_ranks(spec::Array::probe);
  run.put_cost(costs);
}

/// What one rank's frames add.
template <class T>
void add_fused(Cluster& cluster,
               Fused<T>& fused,
               const spec::Scene& scene,
               Noise noise,
               int rank,
               const Exposure<T>& exposure,
               const Gradients<T>& out) {
  const T scale = 1 / static_cast<T>(scene.detector);
  fused.for_each_batch(exposure.count, [&](Batch batch) {
    Complex<T>* const waves = fused.waves(rank, batch.count);
    const std::int64_t layers = batch.count * scene.modes;
    fused.illuminate(rank, exposure, batch, waves);
    transform_frames(cluster, rank, scene.detector, layers, false, waves, waves);
    // Scaled for both unitary transforms.
    fused.compare(rank, noise, exposure, batch, scale, scale * scale, waves, waves, out.cost);
    transform_frames(cluster, rank, scene.detector, layers, true, waves, waves);
    fused.add_to_object(rank, exposure, batch, waves, out.object);
    fused.add_to_probe(rank, exposure, batch, waves, out.probe);
  });
}

}  // namespace

void run_gradients(const OperatorRun& run, Noise noise) {
  with_precision(run.call().type, [&]<class T>() {
    Model<T> model(run.cluster(), run.scene(), noise);
    run_typed<T>(run, [&](int rank, const Exposure<T>& exposure, const Gradients<T>& out) {
      model.add(rank, exposure, out);
    });
  });
}

void run_fused_gradients(const OperatorRun& run, Noise noise) {
  with_precision(run.call().type, [&]<class T>() {
    Fused<T> fused(run.cluster(), run.scene());
    run_typed<T>(run, [&](int rank, const Exposure<T>& exposure, const Gradients<T>& out) {
      add_fused(run.cluster(), fused, run.scene(), noise, rank, exposure, out);
    });
  });
}

std::string_view refuses_slices(const spec::Call& call) {
  return call.scene.slices > 1 ? "one slice only" : std::string_view{};
}

}  // namespace rankcheck::gpu
