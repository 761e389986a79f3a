#include "cases/reconstruct/modes.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

std::complex<double> inner_product(const Mode& a, const Mode& b) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * std::conj(b[i]);
  return sum;
}

/// Returns the (row, column) powers of the k-th polynomial: (0, 0), (0, 1), (1, 0), (0, 2), …
std::pair<int, int> powers(int k) {
  int degree = 0;
  while (k > degree) k -= ++degree;
  return {k, degree - k};
}

void scale(Mode& mode, double factor) {
  for (std::complex<double>& value : mode) value *= factor;
}

}  // namespace

double power(const Mode& mode) {
  return inner_product(mode, mode).real();
}

void add_mode(std::vector<Mode>& modes, int width, double wanted) {
  const auto [row_power, col_power] = powers(static_cast<int>(modes.size()));
  const double middle = (width - 1) / 2.0;
  Mode mode = modes.front();
  for (int row = 0; row < width; ++row) {
    for (int col = 0; col < width; ++col) {
      mode[spec::to_size(row * width + col)] *=
          std::pow((row - middle) / width, row_power) * std::pow((col - middle) / width, col_power);
    }
  }
  const double before = power(mode);
  for (const Mode& each : modes) {
    const double norm = power(each);
    const std::complex<double> share = norm > 0 ? inner_product(mode, each) / norm : 0;
    for (std::size_t i = 0; i < mode.size(); ++i) mode[i] -= share * each[i];
  }
  // If the other modes span the polynomial, only rounding errors are left.
  const double left = power(mode);
  scale(mode, left > 1e-20 * before ? std::sqrt(wanted / left) : 0);
  modes.push_back(std::move(mode));
}

}  // namespace rankcheck::cases::reconstruct
