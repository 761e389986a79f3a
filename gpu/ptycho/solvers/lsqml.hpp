#pragma once

#include <cstdint>

#include "gpu/device/element.hpp"
#include "gpu/device/scratch.hpp"
#include "gpu/ptycho/solvers/frame_sums.hpp"

namespace rankcheck::gpu {

/// Sums over the pixels of a window, or of one of its rows; see lsqml_step.
struct LsqmlMatch {
  double a1 = 0;
  double a4 = 0;
  /// The sum of u conj(v).
  double cross_re = 0;
  double cross_im = 0;
  double b1 = 0;
  double b2 = 0;

  RANKCHECK_HD LsqmlMatch& operator+=(const LsqmlMatch& other) {
    a1 += other.a1;
    a4 += other.a4;
    cross_re += other.cross_re;
    cross_im += other.cross_im;
    b1 += other.b1;
    b2 += other.b2;
    return *this;
  }
};

/// Takes steps of the least-squares maximum-likelihood engine; see lsqml_step.
template <class T>
class Lsqml {
 public:
  using Shares = typename FrameSums<T>::Shares;

  /// Uses `sums`, which must outlive this object. Others may use `sums` between steps. `window` is
  /// the window's width in pixels.
  Lsqml(FrameSums<T>& sums, int window) : sums_(sums), width_(window), matches_(sums.cluster()) {}

  StepReport take(Shares shares);

 private:
  /// Turns the gradients into directions, in place.
  void direct(double positions);
  /// Measures for every position how well the directions explain the returned waves. Puts the sums
  /// of a1 and a4 first among each local rank's numbers.
  void match(Shares shares);

  FrameSums<T>& sums_;
  std::int64_t width_;
  Scratch<LsqmlMatch> matches_;
};

extern template class Lsqml<float>;
extern template class Lsqml<double>;

}  // namespace rankcheck::gpu
