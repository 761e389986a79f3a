#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/ptycho/solver_share.hpp"

namespace rankcheck::gpu {

/// A way to improve object and probe; the contract of the operation <name>_step says what it does.
enum class StepKind : std::uint8_t {
  rpie,
  epie,
  conjugate_gradient,
  lsqml,
  alternating_projections,
  poisson_conjugate_gradient,
  difference_map,
};

/// Whether steps of this kind go on from gradients and directions of the one before.
[[nodiscard]] constexpr bool is_conjugate_gradient(StepKind kind) {
  return kind == StepKind::conjugate_gradient || kind == StepKind::poisson_conjugate_gradient;
}

/// Takes steps, each on some frames of all ranks. Keeps its memory on the devices from step to
/// step; the copies of a pixel that several ranks hold stay equal, bit by bit. All of it is
/// compiled with the operators: whoever uses it need not know for which devices.
template <class T>
class Solver {
 public:
  /// For scenes of one slice and a probe that all positions share. `held` is what each rank holds
  /// of the object, the same on all ranks: the whole of it (whole_objects) or a tile
  /// (box_of_windows, gather_boxes) with all pixels under the rank's own windows.
  Solver(Cluster& cluster, const spec::Scene& scene, std::vector<spec::Box> held);
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  ~Solver();

  /// One step; `shares` are those of cluster.local(), in that order. All ranks take the same steps.
  StepReport take(StepKind kind, std::span<const SolverShare<T>> shares);

  /// The cost of all ranks' frames, as steps of this kind tell it.
  [[nodiscard]] double cost(StepKind kind, std::span<const SolverShare<T>> shares);

  /// Makes the exit waves that the difference map starts from: what object and probe make.
  void illuminate(std::span<const SolverShare<T>> shares);

  /// Copies what steps of this kind go on from, on the devices, from some arrays of the local ranks
  /// to others.
  void copy_state(StepKind kind,
                  std::span<const SolverShare<T>> from,
                  std::span<const SolverShare<T>> to);

 private:
  struct Parts;

  std::unique_ptr<Parts> parts_;
};

extern template class Solver<float>;
extern template class Solver<double>;

}  // namespace rankcheck::gpu
