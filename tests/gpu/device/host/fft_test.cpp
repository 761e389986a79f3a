#include "gpu/device/host/fft.hpp"

#include <complex>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace rankcheck::gpu::host {
namespace {

/// Transforms two frames forward and back, in place or not. The frames begin `moved` bytes behind a
/// multiple of 64.
template <class T>
void expect_back(spec::Type precision, int width, std::size_t moved, bool in_place) {
  const auto pixels = 2 * static_cast<std::size_t>(width) * static_cast<std::size_t>(width);
  std::vector<std::complex<T>> frames(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    frames[i] = {static_cast<T>(i % 7), static_cast<T>(i % 3)};
  }
  const std::size_t bytes = pixels * sizeof(frames[0]);
  std::vector<std::byte> memory(2 * (bytes + 128));
  void* aligned = memory.data();
  std::size_t room = memory.size();
  auto* const in = static_cast<std::byte*>(std::align(64, bytes, aligned, room)) + moved;
  std::byte* const out = in_place ? in : in + bytes + sizeof(T);
  std::memcpy(in, frames.data(), bytes);
  Fft fft;
  fft.run({.precision = precision, .width = width, .batch = 2, .inverse = false}, in, out);
  if (!in_place) {
    EXPECT_EQ(std::memcmp(in, frames.data(), bytes), 0) << "the input was changed";
  }
  fft.run({.precision = precision, .width = width, .batch = 2, .inverse = true}, out, out);
  std::vector<std::complex<T>> back(pixels);
  std::memcpy(back.data(), out, bytes);
  for (std::size_t i = 0; i < pixels; ++i) {
    EXPECT_LE(std::abs(back[i] / static_cast<T>(width * width) - frames[i]), T{1} / (1 << 17)) << i;
  }
}

/// Plans for aligned memory must not be used for other memory.
TEST(FftTest, FramesLieAnywhere) {
  for (const int width : {1, 3, 4, 8, 11}) {
    for (const bool in_place : {true, false}) {
      for (const std::size_t moved : {0, 1, 2, 3, 4, 5}) {
        SCOPED_TRACE(testing::Message() << width << " " << in_place << " " << moved);
        expect_back<float>(spec::Type::f32, width, moved * sizeof(float), in_place);
        expect_back<double>(spec::Type::f64, width, moved * sizeof(double), in_place);
      }
    }
  }
}

}  // namespace
}  // namespace rankcheck::gpu::host
