#include "gpu/ptycho/pie.hpp"

#include <vector>

#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/gradients.hpp"
#include "gpu/ptycho/model.hpp"

namespace rankcheck::gpu {

namespace {

/// A value of an array, which the step changes by its gradient.
template <class T>
struct Step {
  const Complex<T>* before;
  const Complex<T>* gradient;
  const T* weight;
  /// A single number: the largest weight.
  const T* largest;
  Complex<T>* after;
  T alpha;
  /// Weights, which all modes share.
  std::int64_t weights;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const T divisor = (1 - alpha) * weight[i % weights] + alpha * *largest;
    const T factor = divisor > 0 ? 1 / divisor : T{0};
    after[i] = before[i] - factor * gradient[i];
  }
};

/// One rank's gradients and weights, on its device.
template <class T>
struct Sums {
  Gradients<T> of;
  std::int64_t object;
  std::int64_t probe;
  std::int64_t pixels;
  std::int64_t window;
};

template <class T>
Sums<T> make_sums(Cluster& cluster, const spec::Scene& scene, int rank) {
  Sums<T> sums{.of = {},
               .object = spec::values(scene, spec::Array::object),
               .probe = spec::values(scene, spec::Array::probe),
               .pixels = spec::values(scene, spec::Array::object_weight),
               .window = spec::values(scene, spec::Array::probe_weight)};
  sums.of = {.object = cluster.allocate_array<Complex<T>>(rank, sums.object),
             .probe = cluster.allocate_array<Complex<T>>(rank, sums.probe),
             .cost = cluster.allocate_array<double>(rank, 1),
             .object_weight = cluster.allocate_array<T>(rank, sums.pixels),
             .probe_weight = cluster.allocate_array<T>(rank, sums.window)};
  fill(cluster, rank, sums.object, sums.of.object, Complex<T>{});
  fill(cluster, rank, sums.probe, sums.of.probe, Complex<T>{});
  fill(cluster, rank, 1, sums.of.cost, 0.0);
  fill(cluster, rank, sums.pixels, sums.of.object_weight, T{0});
  fill(cluster, rank, sums.window, sums.of.probe_weight, T{0});
  return sums;
}

/// Sums one array of every local rank over all ranks.
template <class T, class Member>
void sum_member(Cluster& cluster,
                std::vector<Sums<T>>& sums,
                Member Gradients<T>::*member,
                spec::Type type,
                std::int64_t components) {
  std::vector<std::byte*> arrays;
  for (Sums<T>& each : sums) arrays.push_back(reinterpret_cast<std::byte*>(each.of.*member));
  sum_over_ranks(cluster, type, components, arrays);
}

template <class T>
void update(const OperatorRun& run, int rank, const Sums<T>& sums, T alpha) {
  Cluster& cluster = run.cluster();
  auto* const largest = cluster.allocate_array<T>(rank, 2);
  find_largest(cluster, rank, sums.pixels, sums.of.object_weight, largest);
  find_largest(cluster, rank, sums.window, sums.of.probe_weight, largest + 1);
  launch(cluster,
         rank,
         sums.object,
         Step<T>{.before = run.in<Complex<T>>(rank, spec::Array::object),
                 .gradient = sums.of.object,
                 .weight = sums.of.object_weight,
                 .largest = largest,
                 .after = run.out<Complex<T>>(rank, spec::Array::object),
                 .alpha = alpha,
                 .weights = sums.pixels});
  launch(cluster,
         rank,
         sums.probe,
         Step<T>{.before = run.in<Complex<T>>(rank, spec::Array::probe),
                 .gradient = sums.of.probe,
                 .weight = sums.of.probe_weight,
                 .largest = largest + 1,
                 .after = run.out<Complex<T>>(rank, spec::Array::probe),
                 .alpha = alpha,
                 .weights = sums.window});
  launch(cluster, rank, 1, Round<T>{sums.of.cost, run.out<T>(rank, spec::Array::cost)});
}

template <class T>
void run_typed(const OperatorRun& run, double alpha) {
  Cluster& cluster = run.cluster();
  Model<T> model(cluster, run.scene(), Noise::gaussian);
  std::vector<Sums<T>> sums;
  for (const int rank : run.local()) {
    sums.push_back(make_sums<T>(cluster, run.scene(), rank));
    model.add(rank, exposure_of<T>(run, rank), sums.back().of);
  }
  const spec::Type type = run.call().type;
  const Sums<T>& sizes = sums.front();
  sum_member(cluster, sums, &Gradients<T>::object, type, 2 * sizes.object);
  sum_member(cluster, sums, &Gradients<T>::probe, type, 2 * sizes.probe);
  sum_member(cluster, sums, &Gradients<T>::cost, spec::Type::f64, 1);
  sum_member(cluster, sums, &Gradients<T>::object_weight, type, sizes.pixels);
  sum_member(cluster, sums, &Gradients<T>::probe_weight, type, sizes.window);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    update(run, run.local()[i], sums[i], static_cast<T>(alpha));
  }
}

}  // namespace

void run_pie_step(const OperatorRun& run, double alpha) {
  with_precision(run.call().type, [&]<class T>() { run_typed<T>(run, alpha); });
}

}  // namespace rankcheck::gpu
