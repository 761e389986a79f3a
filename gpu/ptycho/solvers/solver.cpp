#include "gpu/ptycho/solvers/solver.hpp"

#include <utility>

#include "reference/ptycho/difference_map_step/contract.hpp"
#include "reference/ptycho/momentum_step/contract.hpp"
#include "reference/ptycho/rpie_step/contract.hpp"

#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/solvers/conjugate_gradient.hpp"
#include "gpu/ptycho/solvers/frame_sums.hpp"
#include "gpu/ptycho/solvers/lsqml.hpp"
#include "gpu/ptycho/solvers/state.hpp"

namespace rankcheck::gpu {

namespace {

/// The noise model of the cost that steps of this kind report.
constexpr Noise noise_of(StepKind kind) {
  return kind == StepKind::poisson_conjugate_gradient ? Noise::poisson : Noise::gaussian;
}

/// The object or the probe in a step of a local rank, and its sums over all frames.
template <class T>
struct Block {
  Complex<T>* values;
  Complex<T>* direction;
  const Complex<T>* sums;
  const T* weight;
  /// The number of weights. All modes share them.
  std::int64_t weights;
  /// The largest weight, a single number.
  const T* largest;
};

/// Moves one value against its gradient.
template <class T>
struct PieStep {
  Block<T> of;
  T alpha;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const T divisor = (1 - alpha) * of.weight[i % of.weights] + alpha * *of.largest;
    const T factor = divisor > 0 ? 1 / divisor : T{0};
    of.values[i] = of.values[i] - factor * of.sums[i];
  }
};

/// Turns one value of a direction against the gradient, and moves the value along it.
template <class T>
struct MomentumStep {
  Block<T> of;
  T beta;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const T factor = *of.largest > 0 ? 1 / *of.largest : T{0};
    of.direction[i] = beta * of.direction[i] - factor * of.sums[i];
    of.values[i] = of.values[i] + of.direction[i];
  }
};

/// Sets one value to a weighted mean.
template <class T>
struct Fit {
  Block<T> of;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const T divisor = of.weight[i % of.weights];
    if (divisor > 0) of.values[i] = {of.sums[i].re / divisor, of.sums[i].im / divisor};
  }
};

/// Launches kernel_of(block) for the objects of all local ranks.
template <class T, class KernelOf>
void step_objects(FrameSums<T>& sums,
                  typename FrameSums<T>::Shares shares,
                  const KernelOf& kernel_of) {
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const int rank = sums.cluster().local()[place];
    const std::int64_t pixels = sums.pixels(rank);
    launch(sums.cluster(),
           rank,
           pixels,
           kernel_of(Block<T>{.values = shares[place].object,
                              .direction = shares[place].object_direction,
                              .sums = sums.object(rank),
                              .weight = sums.object_weight(rank),
                              .weights = pixels,
                              .largest = sums.largest_weights(rank)}));
  }
}

/// Launches kernel_of(block) for the probes of all local ranks.
template <class T, class KernelOf>
void step_probes(FrameSums<T>& sums,
                 typename FrameSums<T>::Shares shares,
                 const KernelOf& kernel_of) {
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const int rank = sums.cluster().local()[place];
    launch(sums.cluster(),
           rank,
           sums.probe_size(),
           kernel_of(Block<T>{.values = shares[place].probe,
                              .direction = shares[place].probe_direction,
                              .sums = sums.probe(rank),
                              .weight = sums.probe_weight(rank),
                              .weights = sums.window_size(),
                              .largest = sums.largest_weights(rank) + 1}));
  }
}

/// A step that moves object and probe by their weighted gradients.
template <class T, class KernelOf>
StepReport take_gradient_step(FrameSums<T>& sums,
                              typename FrameSums<T>::Shares shares,
                              const KernelOf& kernel_of) {
  const auto totals =
      sums.add(Noise::gaussian, shares, {.object = true, .probe = true, .weights = true});
  sums.find_largest_weights();
  step_objects(sums, shares, kernel_of);
  step_probes(sums, shares, kernel_of);
  return {.cost = totals.cost};
}

template <class T>
StepReport take_pie(FrameSums<T>& sums, typename FrameSums<T>::Shares shares, T alpha) {
  return take_gradient_step(sums, shares, [&](const Block<T>& of) {
    return PieStep<T>{of, alpha};
  });
}

template <class T>
StepReport take_momentum(FrameSums<T>& sums, typename FrameSums<T>::Shares shares) {
  return take_gradient_step(sums, shares, [](const Block<T>& of) {
    return MomentumStep<T>{of, static_cast<T>(reference::momentum_beta)};
  });
}

template <class T>
Fit<T> fit_of(const Block<T>& of) {
  return {of};
}

template <class T>
StepReport take_alternating_projections(FrameSums<T>& sums, typename FrameSums<T>::Shares shares) {
  const auto totals =
      sums.add(Noise::projected, shares, {.object = true, .probe = true, .weights = true});
  step_objects(sums, shares, fit_of<T>);
  step_probes(sums, shares, fit_of<T>);
  return {.cost = totals.cost};
}

template <class T>
StepReport take_difference_map(FrameSums<T>& sums, typename FrameSums<T>::Shares shares) {
  const auto totals = sums.add(Noise::gaussian, shares, {});
  sums.add_exit_waves(shares, {.object = true, .weights = true});
  step_objects(sums, shares, fit_of<T>);
  sums.add_exit_waves(shares, {.probe = true, .weights = true});
  step_probes(sums, shares, fit_of<T>);
  sums.move_exit_waves(shares, static_cast<T>(reference::difference_map_beta));
  return {.cost = totals.cost};
}

/// The number of values that a rank has of an array of the state.
template <class T>
std::int64_t size_of(FrameSums<T>& sums, int rank, const SolverShare<T>& share, Lies lies) {
  switch (lies) {
    case Lies::like_object:
      return sums.pixels(rank);
    case Lies::like_probe:
      return sums.probe_size();
    case Lies::like_frames:
      return share.count * sums.wave_size();
  }
  return 0;
}

}  // namespace

template <class T>
struct Solver<T>::Parts {
  Parts(Cluster& cluster, const spec::Scene& scene, std::vector<spec::Box> held)
      : sums(cluster, scene, std::move(held)),
        conjugate_gradient(sums),
        lsqml(sums, scene.window) {}

  FrameSums<T> sums;
  ConjugateGradient<T> conjugate_gradient;
  Lsqml<T> lsqml;
};

template <class T>
Solver<T>::Solver(Cluster& cluster, const spec::Scene& scene, std::vector<spec::Box> held)
    : parts_(std::make_unique<Parts>(cluster, scene, std::move(held))) {}

template <class T>
Solver<T>::~Solver() = default;

template <class T>
StepReport Solver<T>::take(StepKind kind,
                           std::span<const SolverShare<T>> shares,
                           Directions directions) {
  switch (kind) {
    case StepKind::rpie:
      return take_pie(parts_->sums, shares, static_cast<T>(reference::rpie_alpha));
    case StepKind::epie:
      return take_pie(parts_->sums, shares, T{1});
    case StepKind::conjugate_gradient:
    case StepKind::poisson_conjugate_gradient:
      return parts_->conjugate_gradient.take(noise_of(kind), shares, directions);
    case StepKind::lsqml:
      return parts_->lsqml.take(shares);
    case StepKind::alternating_projections:
      return take_alternating_projections(parts_->sums, shares);
    case StepKind::difference_map:
      return take_difference_map(parts_->sums, shares);
    case StepKind::momentum:
      return take_momentum(parts_->sums, shares);
  }
  return {};
}

template <class T>
double Solver<T>::cost(StepKind kind, std::span<const SolverShare<T>> shares) {
  return parts_->sums.add(noise_of(kind), shares, {}).cost;
}

template <class T>
void Solver<T>::illuminate(std::span<const SolverShare<T>> shares) {
  parts_->sums.make_exit_waves(shares);
}

template <class T>
void Solver<T>::copy_state(StepKind kind,
                           std::span<const SolverShare<T>> from,
                           std::span<const SolverShare<T>> to) {
  FrameSums<T>& sums = parts_->sums;
  for (std::size_t place = 0; place < from.size(); ++place) {
    const int rank = sums.cluster().local()[place];
    for (const StateArray<T>& state : state_of<T>(kind)) {
      copy<Complex<T>>(sums.cluster(),
                       rank,
                       size_of(sums, rank, from[place], state.lies),
                       from[place].*state.part,
                       to[place].*state.part);
    }
  }
}

template class Solver<float>;
template class Solver<double>;

}  // namespace rankcheck::gpu
