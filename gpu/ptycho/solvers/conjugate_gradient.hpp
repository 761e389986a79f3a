#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/device/scratch.hpp"
#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/solvers/frame_sums.hpp"

namespace rankcheck::gpu {

/// Takes steps of conjugate gradients; see conjugate_gradient_step and
/// poisson_conjugate_gradient_step.
template <class T>
class ConjugateGradient {
 public:
  using Shares = typename FrameSums<T>::Shares;

  /// Uses `sums`, which must outlive this object. Others may use `sums` between steps.
  explicit ConjugateGradient(FrameSums<T>& sums)
      : sums_(sums),
        sums_of_chunks_(sums.cluster()),
        object_trial_(sums.cluster()),
        probe_trial_(sums.cluster()) {}

  StepReport take(Noise noise, Shares shares, Directions directions);

 private:
  /// A local rank's part of the array that a step moves: the object or the probe.
  struct Block {
    int rank = 0;
    std::int64_t size = 0;
    Complex<T>* values = nullptr;
    /// The gradient of the step before; during the step it becomes this step's gradient.
    Complex<T>* gradient = nullptr;
    Complex<T>* direction = nullptr;
    /// The gradient at the present values.
    const Complex<T>* fresh = nullptr;
    Complex<T>* trial = nullptr;
    /// The values that count in sums over all ranks: the first `counts` values. If `counted` is not
    /// null, only those of them with a `counted` other than 0.
    std::int64_t counts = 0;
    const std::uint8_t* counted = nullptr;
  };

  [[nodiscard]] Block object_of(int rank, const SolverShare<T>& share);
  [[nodiscard]] Block probe_of(int rank, const SolverShare<T>& share);
  /// Puts an inner product of two arrays of the block among the rank's numbers, at index `number`.
  void put_product(const Block& block, InnerProduct<T> of, int number);
  /// Turns the directions of the step before into the directions of this step, and keeps this
  /// step's gradients.
  void turn(const std::vector<Block>& blocks, Directions directions);
  /// Turns the directions of some ranks. `sum_products(n)` returns the first n of the numbers that
  /// put_product() left, summed over all ranks.
  template <class SumProducts>
  void turn(std::span<const Block> blocks, const SumProducts& sum_products);
  /// Sends arrays from rank 0 to all ranks. `array` is the member of the local ranks' blocks.
  void send_to_all(const std::vector<Block>& blocks, Complex<T>* Block::*array);
  /// Moves the blocks along their directions by the first tried length that does not raise the cost
  /// above `cost`. Returns this length, or 0 if no tried length succeeds. `trials` are the shares
  /// with the blocks' trials in place of their values.
  double search(Noise noise, const std::vector<Block>& blocks, double cost, Shares trials);

  FrameSums<T>& sums_;
  Scratch<double> sums_of_chunks_;
  Scratch<Complex<T>> object_trial_;
  Scratch<Complex<T>> probe_trial_;
};

extern template class ConjugateGradient<float>;
extern template class ConjugateGradient<double>;

}  // namespace rankcheck::gpu
