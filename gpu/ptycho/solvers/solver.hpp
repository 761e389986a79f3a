#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/ptycho/solvers/solver_share.hpp"

namespace rankcheck::gpu {

/// A way to improve object and probe. The contract of the operation <name>_step explains it.
enum class StepKind : std::uint8_t {
  rpie,
  epie,
  conjugate_gradient,
  lsqml,
  alternating_projections,
  poisson_conjugate_gradient,
  difference_map,
  momentum,
};

/// Whether steps of this kind need the gradients of the step before, and search along directions.
[[nodiscard]] constexpr bool is_conjugate_gradient(StepKind kind) {
  return kind == StepKind::conjugate_gradient || kind == StepKind::poisson_conjugate_gradient;
}

/// Whether steps of this kind need the directions of the step before, at every pixel of the object.
[[nodiscard]] constexpr bool has_directions(StepKind kind) {
  return kind == StepKind::momentum || is_conjugate_gradient(kind);
}

/// Takes steps, each on some frames of all ranks. Keeps its memory on the devices from step to
/// step. If several ranks hold a pixel, their copies stay equal, bit by bit. The implementation is
/// compiled with the operators, so its users need not know the kind of device.
template <class T>
class Solver {
 public:
  /// For scenes of one slice and a probe that all positions share. `held` lists the part of the
  /// object that each rank holds; the list must be the same on all ranks. A rank holds the whole
  /// object (whole_objects) or a tile (box_of_windows, gather_boxes) with all pixels under its own
  /// windows.
  Solver(Cluster& cluster, const spec::Scene& scene, std::vector<spec::Box> held);
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;
  ~Solver();

  /// Takes one step. `shares` are those of cluster.local(), in its order. All ranks must take the
  /// same steps. `directions` is for conjugate gradients only.
  StepReport take(StepKind kind,
                  std::span<const SolverShare<T>> shares,
                  Directions directions = Directions::by_every_rank);

  /// The cost of all ranks' frames, as steps of this kind report it.
  [[nodiscard]] double cost(StepKind kind, std::span<const SolverShare<T>> shares);

  /// Sets the exit waves that the difference map starts from to the waves that object and probe
  /// make.
  void illuminate(std::span<const SolverShare<T>> shares);

  /// Copies the state that steps of this kind need from some arrays of the local ranks to others,
  /// on the devices.
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
