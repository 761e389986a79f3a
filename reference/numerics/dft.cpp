#include "reference/numerics/dft.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "reference/spec/to_size.hpp"

namespace rankcheck::reference {

namespace {

using Value = std::complex<double>;

/// The smallest prime factor of n, for n > 1.
int smallest_prime_factor(int n) {
  for (int p = 2; p * p <= n; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

/// Transforms lines of one length.
class Line {
 public:
  Line(Direction direction, int width)
      : width_(width), line_(spec::to_size(width)), terms_(spec::to_size(width)) {
    const long double sign = direction == Direction::forward ? -1 : 1;
    for (int k = 0; k < width; ++k) {
      const long double angle = sign * 2 * std::numbers::pi_v<long double> * k / width;
      roots_.emplace_back(static_cast<double>(std::cos(angle)),
                          static_cast<double>(std::sin(angle)));
    }
  }

  /// Transforms `width` values in place; consecutive values are `stride` elements apart.
  void transform(Value* values, std::ptrdiff_t stride) {
    stage(width_, values, stride, line_.data());
    for (int k = 0; k < width_; ++k) values[k * stride] = line_[spec::to_size(k)];
  }

 private:
  /// Transforms n values into `out`: transforms every p-th value separately, then combines the p
  /// results.
  void stage(int n, const Value* in, std::ptrdiff_t stride, Value* out) {
    if (n == 1) {
      *out = *in;
      return;
    }
    const int p = smallest_prime_factor(n);
    const int m = n / p;
    for (int r = 0; r < p; ++r) stage(m, in + r * stride, stride * p, out + std::ptrdiff_t{r} * m);
    for (int k = 0; k < m; ++k) {
      for (int r = 0; r < p; ++r) {
        terms_[spec::to_size(r)] = out[r * m + k] * root(r * k, n);
      }
      for (int q = 0; q < p; ++q) out[q * m + k] = sum(p, q);
    }
  }

  /// Value q of the transform of the p values in `terms_`.
  [[nodiscard]] Value sum(int p, int q) const {
    Value total = 0;
    int turn = 0;
    for (int r = 0; r < p; ++r) {
      total += terms_[spec::to_size(r)] * root(turn, p);
      turn = turn + q < p ? turn + q : turn + q - p;
    }
    return total;
  }

  /// exp(-2 pi i k / n) for forward, exp(2 pi i k / n) for inverse; k < n.
  [[nodiscard]] Value root(int k, int n) const {
    return roots_[spec::to_size(k) * spec::to_size(width_ / n)];
  }

  int width_;
  std::vector<Value> roots_;
  std::vector<Value> line_;
  std::vector<Value> terms_;
};

/// Roundings of a product with a tabulated factor: sqrt(5) for the complex product (Brent,
/// Percival, Zimmermann 2007) and sqrt(2) for the factor; the sum is rounded up.
constexpr double factor_roundings = 4;

/// Roundings of a stage of p terms.
double stage_roundings(int p) {
  const double textbook = p - 1 + 2 * factor_roundings;
  if (p <= 16) return textbook;
  // Bluestein's method makes two transforms and three products: a chirp before, the chirp's
  // transform in between, and a chirp after. The chirp's transform stays below 2.3 sqrt(p): 2.24
  // for p = 17, falling to 2.12 for large p.
  const double transforms = 2 * std::ceil(std::log2(2.0 * p)) * (1 + 2 * factor_roundings);
  return std::max(textbook, 2.3 * (transforms + 3 * factor_roundings));
}

}  // namespace

void transform(Direction direction, int width, std::span<Value> frame) {
  Line line(direction, width);
  for (std::ptrdiff_t row = 0; row < width; ++row) line.transform(frame.data() + row * width, 1);
  for (int col = 0; col < width; ++col) line.transform(frame.data() + col, width);
  for (Value& value : frame) value /= width;
}

double transform_roundings(int width) {
  double line = 0;
  for (int rest = width; rest > 1; rest /= smallest_prime_factor(rest)) {
    line += stage_roundings(smallest_prime_factor(rest));
  }
  // Two more roundings for the division by the width, or for the product with its inverse.
  return 2 * line + 2;
}

}  // namespace rankcheck::reference
