#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/ptycho/conjugate_gradient.hpp"
#include "gpu/ptycho/frame_sums.hpp"
#include "gpu/ptycho/lsqml.hpp"

namespace rankcheck::gpu {

/// A way to improve object and probe; the contract of the operation <name>_step says what it does.
enum class StepKind : std::uint8_t { rpie, epie, conjugate_gradient, lsqml, difference_map };

/// Takes steps, each on some frames of all ranks. Keeps its memory on the devices from step to
/// step; the copies of a pixel that several ranks hold stay equal, bit by bit.
template <class T>
class Solver {
 public:
  /// For scenes of one slice and a probe that all positions share. `held` is what each rank holds
  /// of the object, the same on all ranks: the whole of it (whole_objects) or a tile
  /// (box_of_windows, gather_boxes) with all pixels under the rank's own windows.
  Solver(Cluster& cluster, const spec::Scene& scene, std::vector<spec::Box> held);
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// One step; `shares` are those of cluster.local(), in that order. All ranks take the same steps.
  StepReport take(StepKind kind, std::span<const SolverShare<T>> shares);

  /// The cost of all ranks' frames.
  [[nodiscard]] double cost(std::span<const SolverShare<T>> shares);

 private:
  using Shares = std::span<const SolverShare<T>>;

  StepReport take_pie(Shares shares, T alpha);
  StepReport take_difference_map(Shares shares);

  FrameSums<T> sums_;
  ConjugateGradient<T> conjugate_gradient_;
  Lsqml<T> lsqml_;
};

extern template class Solver<float>;
extern template class Solver<double>;

}  // namespace rankcheck::gpu
