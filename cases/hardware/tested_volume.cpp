#include "cases/hardware/tested_volume.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "harness/base/table.hpp"

namespace rankcheck::cases::hardware {

namespace {

/// Returns log(n!) - log(sqrt(2 pi n) (n/e)^n), the error of Stirling's formula. Requires n > 0.
double stirling_error(double n) {
  if (n < 16) {
    return std::lgamma(n + 1) - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2 * std::numbers::pi);
  }
  const double square = n * n;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / n;
}

/// x log(x / mean) + mean - x, accurate also if both are nearly equal.
double deviance(double x, double mean) {
  const double d = (x - mean) / (x + mean);
  if (std::abs(d) >= 0.1) return x * std::log(x / mean) + mean - x;
  // The series of x log((1 + d) / (1 - d)) - (x - mean).
  double sum = (x - mean) * d;
  double power = 2 * x * d;
  for (int k = 3; k < 1000; k += 2) {
    power *= d * d;
    const double next = sum + power / k;
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

/// Returns the probability of exactly `errors` errors in `trials` trials of rate p.
double probability_of(double errors, double trials, double p) {
  if (errors == 0) return std::exp(trials * std::log1p(-p));
  const double rest = trials - errors;
  const double exponent = stirling_error(trials) - stirling_error(errors) - stirling_error(rest) -
                          deviance(errors, trials * p) - deviance(rest, trials * (1 - p));
  return std::exp(exponent) * std::sqrt(trials / (2 * std::numbers::pi * errors * rest));
}

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t mib = std::int64_t{1} << 20;
  return bytes % mib == 0 ? fmt::format("{} MiB", bytes / mib) : harness::grouped(bytes) + " bytes";
}

}  // namespace

TestedVolume& TestedVolume::operator+=(const TestedVolume& other) {
  bytes_of_copy = std::max(bytes_of_copy, other.bytes_of_copy);
  patterns += other.patterns;
  copies += other.copies;
  bytes += other.bytes;
  wrong_bytes += other.wrong_bytes;
  return *this;
}

double probability_of_at_most(std::int64_t errors, std::int64_t trials, double p) {
  const auto n = static_cast<double>(trials);
  double term = probability_of(static_cast<double>(errors), n, p);
  double sum = term;
  for (std::int64_t left = errors; left > 0; --left) {
    const auto i = static_cast<double>(left);
    term *= i * (1 - p) / ((n - i + 1) * p);
    const double next = sum + term;
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

double error_rate_bound(std::int64_t errors, std::int64_t trials) {
  if (errors >= trials) return 1;
  const auto n = static_cast<double>(trials);
  if (errors == 0) return -std::expm1(std::log1p(-confidence) / n);
  double low = static_cast<double>(errors) / n;
  double high = 1;
  while (true) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) return high;
    (probability_of_at_most(errors, trials, middle) > 1 - confidence ? low : high) = middle;
  }
}

std::string to_text(const TestedVolume& volume) {
  if (volume.bytes == 0) return "nothing was compared";
  return fmt::format(
      "{} x {} patterns, {} copies: {} bytes compared, {} wrong; error rate per byte below {:.2g} "
      "({:.0f} %, {})",
      size_text(volume.bytes_of_copy),
      harness::grouped(volume.patterns),
      harness::grouped(volume.copies),
      harness::grouped(volume.bytes),
      harness::grouped(volume.wrong_bytes),
      error_rate_bound(volume.wrong_bytes, volume.bytes),
      100 * confidence,
      volume.wrong_bytes == 0 ? "rule of three" : "Clopper-Pearson");
}

}  // namespace rankcheck::cases::hardware
