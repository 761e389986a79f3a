#include "gpu/ptycho/solvers/lsqml.hpp"

#include <cmath>

#include "reference/ptycho/lsqml_step/contract.hpp"

#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/kernels/window.hpp"

namespace rankcheck::gpu {

namespace {

/// Replaces one value of the object's gradient by LSQML's direction.
template <class T>
struct Precondition {
  Complex<T>* gradient;
  const T* weight;
  /// A single number.
  const T* largest;
  T alpha;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const T divisor = std::hypot((1 - alpha) * weight[i], alpha * *largest);
    gradient[i] = divisor > 0 ? Complex<T>{-gradient[i].re / divisor, -gradient[i].im / divisor}
                              : Complex<T>{};
  }
};

/// Replaces one value of the probe's gradient by LSQML's direction.
template <class T>
struct NegativeMean {
  Complex<T>* gradient;
  T positions;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    gradient[i] = {-gradient[i].re / positions, -gradient[i].im / positions};
  }
};

/// Measures how well the directions explain the returned waves. Call r processes one row of one
/// window.
template <class T>
struct MatchRow {
  ObjectView<T> object;
  ObjectView<T> object_direction;
  const Complex<T>* probe;
  const Complex<T>* probe_direction;
  const Complex<T>* returned;
  const T* positions;
  std::int64_t width;
  LsqmlMatch* matches;

  RANKCHECK_HD static Complex<double> widen(Complex<T> a) {
    return {static_cast<double>(a.re), static_cast<double>(a.im)};
  }

  RANKCHECK_HD void operator()(std::int64_t r) const {
    const Window<T> window(positions + 2 * (r / width));
    const std::int64_t p = r % width;
    LsqmlMatch sum;
    for (std::int64_t q = 0; q < width; ++q) {
      const auto u = widen(object_direction.at(window, p, q)) * widen(probe[p * width + q]);
      const auto v = widen(probe_direction[p * width + q]) * widen(object.at(window, p, q));
      // `returned` is the gradient, and the residual is its negative.
      const auto chi = -1.0 * widen(returned[r * width + q]);
      const auto cross = u * conj(v);
      sum += LsqmlMatch{.a1 = norm(u),
                        .a4 = norm(v),
                        .cross_re = cross.re,
                        .cross_im = cross.im,
                        .b1 = (conj(u) * chi).re,
                        .b2 = (conj(v) * chi).re};
    }
    matches[r] = sum;
  }
};

/// Sums the rows of a position into the first one; see lsqml_step.
struct MatchPosition {
  LsqmlMatch* matches;
  std::int64_t width;

  RANKCHECK_HD void operator()(std::int64_t n) const {
    for (std::int64_t p = 1; p < width; ++p) matches[n * width] += matches[n * width + p];
  }
};

/// Sums a1 and a4 over a rank's positions.
struct SumPowers {
  const LsqmlMatch* matches;
  std::int64_t positions;
  std::int64_t width;
  double* sums;

  RANKCHECK_HD void operator()(std::int64_t) const {
    sums[0] = sums[1] = 0;
    for (std::int64_t n = 0; n < positions; ++n) {
      sums[0] += matches[n * width].a1;
      sums[1] += matches[n * width].a4;
    }
  }
};

/// Sums the step lengths of a rank's positions. Negative lengths are left out.
struct SumLengths {
  const LsqmlMatch* matches;
  std::int64_t positions;
  std::int64_t width;
  double mean_a1;
  double mean_a4;
  double* sums;

  RANKCHECK_HD void operator()(std::int64_t) const {
    sums[0] = sums[1] = 0;
    for (std::int64_t n = 0; n < positions; ++n) {
      const LsqmlMatch& match = matches[n * width];
      const double a1 = match.a1 + mean_a1 / 2;
      const double a4 = match.a4 + mean_a4 / 2;
      const double cross = match.cross_re * match.cross_re + match.cross_im * match.cross_im;
      const double determinant = a1 * a4 - cross;
      if (!(determinant > 0)) continue;
      const double x1 = (a4 * match.b1 - match.cross_re * match.b2) / determinant;
      const double x2 = (a1 * match.b2 - match.cross_re * match.b1) / determinant;
      if (x1 > 0) sums[0] += x1;
      if (x2 > 0) sums[1] += x2;
    }
  }
};

}  // namespace

template <class T>
StepReport Lsqml<T>::take(Shares shares) {
  const auto totals = sums_.add(
      Noise::gaussian, shares, {.object = true, .probe = true, .weights = true, .returned = true});
  if (totals.positions == 0) return {.cost = totals.cost};
  sums_.find_largest_weights();
  direct(totals.positions);
  match(shares);
  const std::vector<double> powers = sums_.sum_numbers(2);
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const int rank = sums_.cluster().local()[place];
    launch(sums_.cluster(),
           rank,
           1,
           SumLengths{.matches = matches_.get(rank, 0),
                      .positions = shares[place].count,
                      .width = width_,
                      .mean_a1 = powers[0] / totals.positions,
                      .mean_a4 = powers[1] / totals.positions,
                      .sums = sums_.numbers(rank)});
  }
  const std::vector<double> lengths = sums_.sum_numbers(2);
  const StepReport report{
      .cost = totals.cost,
      .object_length = reference::lsqml_relaxation * (lengths[0] / totals.positions),
      .probe_length = reference::lsqml_relaxation * (lengths[1] / totals.positions)};
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const int rank = sums_.cluster().local()[place];
    const auto go =
        [&](std::int64_t count, double length, const Complex<T>* direction, Complex<T>* values) {
          add_scaled<T>(
              sums_.cluster(), rank, count, values, static_cast<T>(length), direction, values);
        };
    go(sums_.pixels(rank), report.object_length, sums_.object(rank), shares[place].object);
    go(sums_.probe_size(), report.probe_length, sums_.probe(rank), shares[place].probe);
  }
  return report;
}

template <class T>
void Lsqml<T>::direct(double positions) {
  constexpr T alpha = static_cast<T>(reference::lsqml_alpha);
  for (const int rank : sums_.cluster().local()) {
    const std::int64_t pixels = sums_.pixels(rank);
    launch(sums_.cluster(),
           rank,
           pixels,
           Precondition<T>{.gradient = sums_.object(rank),
                           .weight = sums_.object_weight(rank),
                           .largest = sums_.largest_weights(rank),
                           .alpha = alpha});
    launch(sums_.cluster(),
           rank,
           sums_.probe_size(),
           NegativeMean<T>{sums_.probe(rank), static_cast<T>(positions)});
  }
}

template <class T>
void Lsqml<T>::match(Shares shares) {
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const SolverShare<T>& share = shares[place];
    const int rank = sums_.cluster().local()[place];
    const spec::Box& held = sums_.objects().held(rank);
    LsqmlMatch* const matches = matches_.get(rank, share.count * width_);
    launch(sums_.cluster(),
           rank,
           share.count * width_,
           MatchRow<T>{.object = {held, share.object},
                       .object_direction = {held, sums_.object(rank)},
                       .probe = share.probe,
                       .probe_direction = sums_.probe(rank),
                       .returned = sums_.returned(rank),
                       .positions = share.positions,
                       .width = width_,
                       .matches = matches});
    launch(sums_.cluster(), rank, share.count, MatchPosition{matches, width_});
    launch(sums_.cluster(), rank, 1, SumPowers{matches, share.count, width_, sums_.numbers(rank)});
  }
}

template class Lsqml<float>;
template class Lsqml<double>;

}  // namespace rankcheck::gpu
