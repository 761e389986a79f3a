#include "gpu/ptycho/gradients.hpp"

#include <vector>

namespace rankcheck::gpu {

namespace {

template <class Value>
struct Fill {
  Value* values;
  Value value;

  RANKCHECK_HD void operator()(std::int64_t i) const { values[i] = value; }
};

template <class T>
struct StoreCost {
  const double* sum;
  T* cost;

  RANKCHECK_HD void operator()(std::int64_t) const { *cost = static_cast<T>(*sum); }
};

template <class T>
Exposure<T> exposure_of(const OperatorRun& run, int rank) {
  return {.object = run.in<Complex<T>>(rank, spec::Array::object),
          .probe = run.in<Complex<T>>(rank, spec::Array::probe),
          .positions = run.in<T>(rank, spec::Array::positions),
          .frames = run.in<T>(rank, spec::Array::frames),
          .mask = run.in<T>(rank, spec::Array::mask),
          .count = run.positions(rank)};
}

template <class T>
void run_typed(const OperatorRun& run, Noise noise) {
  Cluster& cluster = run.cluster();
  Model<T> model(cluster, run.scene(), noise);
  std::vector<std::byte*> costs;
  for (const int rank : run.local()) {
    const Gradients<T> out{.object = run.out<Complex<T>>(rank, spec::Array::object),
                           .probe = run.out<Complex<T>>(rank, spec::Array::probe),
                           .cost = cluster.allocate_array<double>(rank, 1)};
    for (const spec::Array array : {spec::Array::object, spec::Array::probe}) {
      Complex<T>* const values = array == spec::Array::object ? out.object : out.probe;
      launch(cluster, rank, run.size(rank, array), Fill<Complex<T>>{values, {}});
    }
    launch(cluster, rank, 1, Fill<double>{out.cost, 0});
    model.add(rank, exposure_of<T>(run, rank), out);
    costs.push_back(reinterpret_cast<std::byte*>(out.cost));
  }
  run.sum_over_ranks(spec::Array::object);
  if (!run.scene().varying_probe) run.sum_over_ranks(spec::Array::probe);
  sum_over_ranks(cluster, spec::Type::f64, 1, costs);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const int rank = run.local()[i];
    launch(cluster,
           rank,
           1,
           StoreCost<T>{reinterpret_cast<const double*>(costs[i]),
                        run.out<T>(rank, spec::Array::cost)});
  }
}

}  // namespace

void run_gradients(const OperatorRun& run, Noise noise) {
  with_precision(run.call().type, [&]<class T>() { run_typed<T>(run, noise); });
}

}  // namespace rankcheck::gpu
