#pragma once

#include <cstdint>
#include <vector>

#include "gpu/device/scratch.hpp"
#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/frame_sums.hpp"

namespace rankcheck::gpu {

/// Steps of conjugate gradients; see conjugate_gradient_step and poisson_conjugate_gradient_step.
template <class T>
class ConjugateGradient {
 public:
  using Shares = typename FrameSums<T>::Shares;

  /// Uses the sums, which others may use between steps.
  explicit ConjugateGradient(FrameSums<T>& sums)
      : sums_(sums),
        sums_of_chunks_(sums.cluster()),
        object_trial_(sums.cluster()),
        probe_trial_(sums.cluster()) {}

  StepReport take(Noise noise, Shares shares);

 private:
  /// A local rank's part of what moves: the object or the probe.
  struct Block {
    int rank = 0;
    std::int64_t size = 0;
    Complex<T>* values = nullptr;
    /// Of the step before, then of this one.
    Complex<T>* gradient = nullptr;
    Complex<T>* direction = nullptr;
    /// The gradient now.
    const Complex<T>* fresh = nullptr;
    Complex<T>* trial = nullptr;
    /// Values that count in sums over all ranks: the first `counts` ones, and of those the ones
    /// that are not 0 here, where this is not null.
    std::int64_t counts = 0;
    const std::uint8_t* counted = nullptr;
  };

  [[nodiscard]] Block object_of(int rank, const SolverShare<T>& share);
  [[nodiscard]] Block probe_of(int rank, const SolverShare<T>& share);
  /// Puts an inner product of two arrays of the block among the rank's numbers.
  void put_product(const Block& block, InnerProduct<T> of, int number);
  /// Makes this step's directions of the ones before.
  void turn(const std::vector<Block>& blocks);
  /// Moves the blocks along their directions until the cost, at first `cost`, is no higher; returns
  /// how far. `trials` are the shares with the blocks' trials in place of their values.
  double search(Noise noise, const std::vector<Block>& blocks, double cost, Shares trials);

  FrameSums<T>& sums_;
  Scratch<double> sums_of_chunks_;
  Scratch<Complex<T>> object_trial_;
  Scratch<Complex<T>> probe_trial_;
};

extern template class ConjugateGradient<float>;
extern template class ConjugateGradient<double>;

}  // namespace rankcheck::gpu
