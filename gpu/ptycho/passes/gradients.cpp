#include "gpu/ptycho/passes/gradients.hpp"

#include <vector>

#include "gpu/ptycho/kernels/arrays.hpp"

namespace rankcheck::gpu {

namespace {

/// Starts from zeros, adds the part of every local rank, then sums over the ranks.
template <class T>
void run_typed(const OperatorRun& run, Noise noise, Passes passes) {
  Cluster& cluster = run.cluster();
  Model<T> model(cluster, run.scene(), noise, passes);
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
    model.add(rank, scan_of<T>(run, rank), out);
    costs.push_back(out.cost);
  }
  run.sum_over_ranks(spec::Array::object);
  if (!run.scene().varying_probe) run.sum_over_ranks(spec::Array::probe);
  run.put_cost(costs);
}

}  // namespace

void run_gradients(const OperatorRun& run, Noise noise, Passes passes) {
  with_precision(run.call().type, [&]<class T>() { run_typed<T>(run, noise, passes); });
}

std::string_view refuses_slices(const spec::OperatorCall& call) {
  return call.scene.slices > 1 ? "one slice only" : std::string_view{};
}

}  // namespace rankcheck::gpu
