#include "gpu/ptycho/solver.hpp"

#include <utility>

#include "reference/ptycho/rpie_step/contract.hpp"

#include "gpu/ptycho/arrays.hpp"

namespace rankcheck::gpu {

namespace {

/// A value that moves against its gradient.
template <class T>
struct PieStep {
  Complex<T>* values;
  const Complex<T>* gradient;
  const T* weight;
  /// A single number.
  const T* largest;
  T alpha;
  /// Weights, which all modes share.
  std::int64_t weights;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const T divisor = (1 - alpha) * weight[i % weights] + alpha * *largest;
    const T factor = divisor > 0 ? 1 / divisor : T{0};
    values[i] = values[i] - factor * gradient[i];
  }
};

/// A value that becomes a weighted mean.
template <class T>
struct Fit {
  Complex<T>* values;
  const Complex<T>* sums;
  const T* weight;
  /// Weights, which all modes share.
  std::int64_t weights;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const T divisor = weight[i % weights];
    if (divisor > 0) values[i] = {sums[i].re / divisor, sums[i].im / divisor};
  }
};

}  // namespace

template <class T>
Solver<T>::Solver(Cluster& cluster, const spec::Scene& scene, std::vector<spec::Box> held)
    : sums_(cluster, scene, std::move(held)),
      conjugate_gradient_(sums_),
      lsqml_(sums_, scene.window) {}

template <class T>
StepReport Solver<T>::take(StepKind kind, Shares shares) {
  switch (kind) {
    case StepKind::rpie:
      return take_pie(shares, static_cast<T>(reference::rpie_alpha));
    case StepKind::epie:
      return take_pie(shares, T{1});
    case StepKind::conjugate_gradient:
      return conjugate_gradient_.take(shares);
    case StepKind::lsqml:
      return lsqml_.take(shares);
    case StepKind::difference_map:
      return take_difference_map(shares);
  }
  return {};
}

template <class T>
double Solver<T>::cost(Shares shares) {
  return sums_.add_gradients(shares, {}).cost;
}

template <class T>
StepReport Solver<T>::take_pie(Shares shares, T alpha) {
  const auto totals = sums_.add_gradients(shares, {.object = true, .probe = true, .weights = true});
  sums_.find_largest_weights();
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const int rank = sums_.cluster().local()[place];
    const T* const largest = sums_.largest_weights(rank);
    const std::int64_t pixels = sums_.pixels(rank);
    launch(sums_.cluster(),
           rank,
           pixels,
           PieStep<T>{.values = shares[place].object,
                      .gradient = sums_.object(rank),
                      .weight = sums_.object_weight(rank),
                      .largest = largest,
                      .alpha = alpha,
                      .weights = pixels});
    launch(sums_.cluster(),
           rank,
           sums_.probe_size(),
           PieStep<T>{.values = shares[place].probe,
                      .gradient = sums_.probe(rank),
                      .weight = sums_.probe_weight(rank),
                      .largest = largest + 1,
                      .alpha = alpha,
                      .weights = sums_.window_size()});
  }
  return {.cost = totals.cost};
}

template <class T>
StepReport Solver<T>::take_difference_map(Shares shares) {
  const auto totals =
      sums_.add_projections(shares, {.object = true, .probe = true, .weights = true});
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const int rank = sums_.cluster().local()[place];
    const std::int64_t pixels = sums_.pixels(rank);
    launch(sums_.cluster(),
           rank,
           pixels,
           Fit<T>{.values = shares[place].object,
                  .sums = sums_.object(rank),
                  .weight = sums_.object_weight(rank),
                  .weights = pixels});
    launch(sums_.cluster(),
           rank,
           sums_.probe_size(),
           Fit<T>{.values = shares[place].probe,
                  .sums = sums_.probe(rank),
                  .weight = sums_.probe_weight(rank),
                  .weights = sums_.window_size()});
  }
  return {.cost = totals.cost};
}

template class Solver<float>;
template class Solver<double>;

}  // namespace rankcheck::gpu
