#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu::orthogonalize_modes {

namespace {

/// Computes an inner product of two modes of a probe in double precision.
template <class T>
struct Gram {
  const Complex<T>* probes;
  Complex<double>* gram;
  std::int64_t modes;
  std::int64_t pixels;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t probe = i / (modes * modes);
    const Complex<T>* a = probes + (probe * modes + i / modes % modes) * pixels;
    const Complex<T>* b = probes + (probe * modes + i % modes) * pixels;
    Complex<double> sum;
    for (std::int64_t p = 0; p < pixels; ++p) {
      sum += Complex<double>{a[p].re, a[p].im} * conj(Complex<double>{b[p].re, b[p].im});
    }
    gram[i] = sum;
  }
};

/// Computes one pixel of a mode as a mixture of the old modes there.
template <class T>
struct Mix {
  const Complex<T>* probes;
  const Complex<double>* mixing;
  Complex<T>* out;
  std::int64_t modes;
  std::int64_t pixels;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t probe = i / (modes * pixels);
    const Complex<double>* row = mixing + i / pixels * modes;
    const Complex<T>* values = probes + probe * modes * pixels + i % pixels;
    Complex<double> sum;
    for (std::int64_t m = 0; m < modes; ++m) {
      sum += row[m] * Complex<double>{values[m * pixels].re, values[m * pixels].im};
    }
    out[i] = {static_cast<T>(sum.re), static_cast<T>(sum.im)};
  }
};

/// A square matrix, stored row by row.
class Matrix {
 public:
  explicit Matrix(std::size_t size) : size_(size), values_(size * size) {}

  std::complex<double>& operator()(std::size_t row, std::size_t col) {
    return values_[row * size_ + col];
  }

 private:
  std::size_t size_;
  std::vector<std::complex<double>> values_;
};

/// A rotation of rows p and q. For columns, the phase must be conjugated.
struct Rotation {
  double cosine;
  std::complex<double> sine;

  void turn(std::complex<double>& p, std::complex<double>& q) const {
    const std::complex<double> old = p;
    p = cosine * old - sine * q;
    q = std::conj(sine) * old + cosine * q;
  }
};

/// Diagonalises a Hermitian matrix by Jacobi's method, in place. Returns the unitary matrix that
/// does this.
Matrix diagonalise(Matrix& gram, std::size_t size) {
  constexpr int sweeps_max = 10;
  Matrix unitary(size);
  for (std::size_t i = 0; i < size; ++i) unitary(i, i) = 1;
  for (int sweep = 0; sweep < sweeps_max; ++sweep) {
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) {
        const double magnitude = std::abs(gram(p, q));
        if (magnitude == 0) continue;
        const double tau = (gram(q, q).real() - gram(p, p).real()) / (2 * magnitude);
        const double tangent = (tau < 0 ? -1 : 1) / (std::abs(tau) + std::hypot(1, tau));
        const double cosine = 1 / std::hypot(1, tangent);
        const Rotation rotation{cosine, tangent * cosine * (gram(p, q) / magnitude)};
        const Rotation adjoint{cosine, std::conj(rotation.sine)};
        for (std::size_t i = 0; i < size; ++i) {
          rotation.turn(gram(p, i), gram(q, i));
          rotation.turn(unitary(p, i), unitary(q, i));
        }
        for (std::size_t i = 0; i < size; ++i) adjoint.turn(gram(i, p), gram(i, q));
        gram(p, q) = gram(q, p) = 0;
      }
    }
  }
  return unitary;
}

/// Replaces a probe's matrix of inner products by the matrix that mixes its modes.
void find_mixing(Complex<double>* values, std::size_t modes) {
  Matrix gram(modes);
  for (std::size_t i = 0; i < modes * modes; ++i) {
    gram(i / modes, i % modes) = {values[i].re, values[i].im};
  }
  Matrix unitary = diagonalise(gram, modes);
  std::vector<std::size_t> order(modes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return gram(a, a).real() > gram(b, b).real();
  });
  for (std::size_t i = 0; i < modes * modes; ++i) {
    const std::complex<double> value = unitary(order[i / modes], i % modes);
    values[i] = {value.real(), value.imag()};
  }
}

template <class T>
void run_rank(const OperatorRun& run, int rank) {
  Cluster& cluster = run.cluster();
  const std::int64_t modes = run.scene().modes;
  const std::int64_t pixels = std::int64_t{run.scene().window} * run.scene().window;
  const std::int64_t probes = run.size(rank, spec::Array::probe) / (modes * pixels);
  const std::int64_t entries = probes * modes * modes;
  const auto* in = run.in<Complex<T>>(rank, spec::Array::probe);
  auto* const mixing = cluster.allocate_array<Complex<double>>(rank, entries);
  launch(cluster, rank, entries, Gram<T>{in, mixing, modes, pixels});
  std::vector<Complex<double>> values = cluster.read_array(rank, mixing, entries);
  for (std::int64_t n = 0; n < probes; ++n) {
    find_mixing(values.data() + n * modes * modes, spec::to_size(modes));
  }
  cluster.write_array(rank, values, mixing);
  launch(cluster,
         rank,
         probes * modes * pixels,
         Mix<T>{in, mixing, run.out<Complex<T>>(rank, spec::Array::probe), modes, pixels});
}

}  // namespace

Operator jacobi() {
  return {.name = "jacobi",
          .summary =
              "The device computes the inner products, and the host diagonalises their matrix by "
              "Jacobi rotations.",
          .run = [](const OperatorRun& run) {
            for_each_local(run, [&]<class T>(int rank) { run_rank<T>(run, rank); });
          }};
}

}  // namespace rankcheck::gpu::orthogonalize_modes
