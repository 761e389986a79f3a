#include "reference/numerics/dft.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "gpu/device/host/fft.hpp"

namespace rankcheck::reference {
namespace {

using Values = std::vector<std::complex<double>>;

/// Returns numbers that single precision holds exactly.
Values frame_of(int width) {
  Values frame(spec::to_size(width * width));
  std::uint32_t state = 1;
  const auto next = [&] {
    state = state * 1664525 + 1013904223;
    return static_cast<double>(state >> 16) / 32768 - 1;
  };
  for (auto& value : frame) value = {next(), next()};
  return frame;
}

/// Transforms by definition: a sum over all pixels for every frequency.
Values summed(int width, double sign, const Values& frame) {
  Values out(frame.size());
  for (int at = 0; at < width * width; ++at) {
    for (int from = 0; from < width * width; ++from) {
      const int turn = (at / width * (from / width) + at % width * (from % width)) % width;
      out[spec::to_size(at)] += frame[spec::to_size(from)] *
                                std::polar(1.0 / width, sign * 2 * std::numbers::pi * turn / width);
    }
  }
  return out;
}

double norm_of(const Values& frame) {
  double sum = 0;
  for (const auto& value : frame) sum += std::norm(value);
  return std::sqrt(sum);
}

double distance(const Values& a, const Values& b) {
  Values difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return norm_of(difference);
}

TEST(DftTest, IsTheSumThatDefinesIt) {
  for (const int width : {1, 2, 3, 4, 5, 6, 8, 9, 12, 15, 17}) {
    Values frame = frame_of(width);
    const Values forward = summed(width, -1, frame);
    const Values inverse = summed(width, 1, frame);
    Values other = frame;
    transform(Direction::forward, width, frame);
    transform(Direction::inverse, width, other);
    EXPECT_LE(distance(frame, forward), 1e-13 * norm_of(forward)) << width;
    EXPECT_LE(distance(other, inverse), 1e-13 * norm_of(inverse)) << width;
  }
}

TEST(DftTest, OnePixelAtTheCornerIsConstant) {
  Values frame(9);
  frame[0] = 3;
  transform(Direction::forward, 3, frame);
  EXPECT_LE(distance(frame, Values(9, 1)), 1e-15);
}

TEST(DftTest, AConstantIsOneFrequencyAtTheCorner) {
  Values frame(16, 1);
  transform(Direction::forward, 4, frame);
  Values expected(16);
  expected[0] = 4;
  EXPECT_LE(distance(frame, expected), 1e-15);
}

TEST(DftTest, TwiceForwardIsAReflection) {
  Values frame = frame_of(6);
  Values reflected(36);
  for (std::size_t i = 0; i < 36; ++i) reflected[(6 - i / 6) % 6 * 6 + (6 - i % 6) % 6] = frame[i];
  transform(Direction::forward, 6, frame);
  transform(Direction::forward, 6, frame);
  EXPECT_LE(distance(frame, reflected), 1e-14);
}

/// Transforms with FFTW in single precision, scaled by 1 / width.
Values by_library(int width, const Values& frame) {
  std::vector<std::complex<float>> values(frame.begin(), frame.end());
  gpu::host::Fft().run({.width = width, .batch = 1}, values.data(), values.data());
  Values out(values.begin(), values.end());
  for (auto& value : out) value /= width;
  return out;
}

TEST(DftTest, ALibraryKeepsWithinTheRoundings) {
  for (const int width : {3, 7, 13, 16, 17, 31, 60, 64}) {
    const Values frame = frame_of(width);
    Values expected = frame;
    transform(Direction::forward, width, expected);
    const double error = distance(by_library(width, frame), expected);
    const double bound = transform_roundings(width) * 0x1p-24 * norm_of(frame);
    EXPECT_LE(error, bound) << width;
    EXPECT_GE(error, bound / 2000) << width;
  }
}

}  // namespace
}  // namespace rankcheck::reference
