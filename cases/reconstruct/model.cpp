#include "cases/reconstruct/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::reconstruct {

using spec::Array;

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

std::vector<std::complex<float>> with_modes(const Dataset& data, int modes) {
  const auto pixels = static_cast<std::ptrdiff_t>(data.window) * data.window;
  std::vector<Mode> all;
  for (int m = 0; m < std::min(modes, data.modes); ++m) {
    all.emplace_back(data.probe.begin() + m * pixels, data.probe.begin() + (m + 1) * pixels);
  }
  for (int k = 1; data.modes + k <= modes; ++k) {
    add_mode(all, data.window, power(all.front()) / (10.0 * k));
  }
  std::vector<std::complex<float>> probe;
  for (const Mode& mode : all) probe.insert(probe.end(), mode.begin(), mode.end());
  return probe;
}

ReferenceModel::ReferenceModel(const Dataset& data) : data_(data) {
  arrays_.scene = data.scene();
  arrays_.positions = 1;
  const auto fill = [](reference::BoundedArray& bounded,
                       const std::vector<std::complex<float>>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) bounded.values[i] = values[i];
  };
  fill(arrays_.make(Array::object), data.object);
  fill(arrays_.make(Array::probe), data.probe);
  arrays_.make(Array::positions);
}

const reference::BoundedArray& ReferenceModel::intensity(std::int64_t position) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    arrays_[Array::positions].values[axis] = data_.positions[2 * spec::to_size(position) + axis];
  }
  reference::illuminate::reference(arrays_, arrays_);
  reference::propagate::reference(arrays_, arrays_);
  reference::intensity::reference(arrays_, arrays_);
  return arrays_[Array::frames];
}

}  // namespace rankcheck::cases::reconstruct
