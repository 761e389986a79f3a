#include "gpu/ptycho/passes/fused_passes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/ptycho/kernels/arrays.hpp"

#include "tests/gpu/ptycho/devices.hpp"

/// Shapes for which suites are too small: several batches, tiles, groups of positions and levels of
/// sums. Strips, tiles and marks do not divide the shapes. Windows lie over every edge and beyond.
/// Some numbers must not be read, and arrays begin at any component. Numbers are small multiples of
/// 1/4, so all sums are exact and the tests compare bits.
namespace rankcheck::gpu {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// An array between numbers that must be neither written nor read.
template <class Value>
class GuardedArray {
 public:
  /// The array begins `offset` components behind a multiple of any alignment.
  GuardedArray(std::int64_t count, int offset) : count_(count) {
    floats_.resize(static_cast<std::size_t>(count) * components + 3 * guard, not_a_number);
    begin_ = guard;
    while (reinterpret_cast<std::uintptr_t>(floats_.data() + begin_) % 64 != 0) ++begin_;
    begin_ += static_cast<std::size_t>(offset);
    fill({});
  }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  [[nodiscard]] Value* data() { return reinterpret_cast<Value*>(floats_.data() + begin_); }
  [[nodiscard]] Value& operator[](std::int64_t i) { return data()[i]; }
  [[nodiscard]] std::int64_t size() const { return count_; }
  void fill(const Value& value) { std::fill(data(), data() + count_, value); }
  [[nodiscard]] bool is_intact() const {
    const auto is_guard = [](float each) { return std::isnan(each); };
    const auto first = floats_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(floats_.begin(), first, is_guard) &&
           std::all_of(
               first + count_ * static_cast<std::ptrdiff_t>(components), floats_.end(), is_guard);
  }

 private:
  static constexpr std::size_t guard = 64;
  static constexpr auto components = static_cast<std::size_t>(components_of<Value>);

  std::int64_t count_;
  std::vector<float> floats_;
  std::size_t begin_ = 0;
};

using GuardedWaves = GuardedArray<Complex<float>>;
using GuardedReals = GuardedArray<float>;

bool are_alike(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
bool are_alike(const Complex<float>& a, const Complex<float>& b) {
  return are_alike(a.re, b.re) && are_alike(a.im, b.im);
}

template <class Value>
void expect_same(GuardedArray<Value>& got, GuardedArray<Value>& wanted) {
  EXPECT_TRUE(got.is_intact());
  for (std::int64_t i = 0; i < got.size(); ++i) ASSERT_TRUE(are_alike(got[i], wanted[i])) << i;
}

struct FusedShape {
  std::string name;
  spec::Scene scene;
  int positions = 0;
  /// Offset of every array from an aligned address, in components.
  int offset = 0;
  /// Whether some numbers are NaN.
  bool has_nan = false;
  /// Whether all windows lie on whole pixels.
  bool on_pixels = false;

  friend std::ostream& operator<<(std::ostream& out, const FusedShape& shape) {
    return out << shape.name;
  }
};

constexpr spec::Scene shape_of(
    int rows, int cols, int window, int detector, int modes, bool varying_probe = false) {
  return {.rows = rows,
          .cols = cols,
          .window = window,
          .detector = detector,
          .modes = modes,
          .varying_probe = varying_probe};
}

class FusedPassesTest : public testing::TestWithParam<FusedShape> {
 protected:
  FusedPassesTest()
      : scene_(GetParam().scene),
        count_(GetParam().positions),
        cluster_(1),
        positions_(std::int64_t{2} * count_, 0),
        object_(std::int64_t{scene_.rows} * scene_.cols, GetParam().offset),
        probe_(window_size() * scene_.modes * (scene_.varying_probe ? count_ : 1),
               GetParam().offset),
        waves_(count_ * wave_size(), GetParam().offset) {
    place();
    fill(object_, 1);
    fill(probe_, 2);
    // Waves outside the windows must not be read.
    for (auto i = std::int64_t{0}; i < waves_.size(); ++i) {
      waves_[i] = {not_a_number, not_a_number};
    }
    for_each_pixel([&](int n, int m, int p, int q) {
      const std::int64_t i = wave_at(n, m, p, q);
      waves_[i] = number(i, 3);
    });
    scan_ = {.object = object_.data(), .probe = probe_.data(), .positions = positions_.data()};
  }

  /// Places windows over the edges, on and between pixels. Some are far away, or at infinity or
  /// NaN. Some are so close to a pixel that their own row has no weight.
  void place() {
    const float infinity = std::numeric_limits<float>::infinity();
    const float far[] = {
        1e9F, -1e9F, 4e18F, -infinity, infinity, not_a_number, -3e9F, 2147483648.0F};
    const float half = GetParam().on_pixels ? 0.0F : 0.5F;
    for (int n = 0; n < count_; ++n) {
      const int row = n * 5 % (scene_.rows + scene_.window + 3) - scene_.window - 1;
      const int col = n * 7 % (scene_.cols + scene_.window + 3) - scene_.window - 1;
      coordinate(n, 0) = static_cast<float>(row) + half * static_cast<float>(n % 2);
      coordinate(n, 1) = static_cast<float>(col) + half * static_cast<float>(n / 2 % 2);
      if (n % 11 == 3) coordinate(n, n / 11 % 2) = -1e-9F;
      if (n % 11 == 7) coordinate(n, n / 11 % 2) = far[n / 11 % 8];
    }
  }

  [[nodiscard]] float& coordinate(int n, int axis) {
    return positions_[std::int64_t{2} * n + axis];
  }

  [[nodiscard]] Complex<float> number(std::int64_t i, std::int64_t salt) const {
    if (GetParam().has_nan && (i + salt) % 97 == 41) return {not_a_number, not_a_number};
    return {static_cast<float>((i * 7 + salt) % 11 - 5),
            static_cast<float>((i * 5 + salt) % 7 - 3)};
  }
  void fill(GuardedWaves& array, std::int64_t salt) const {
    for (std::int64_t i = 0; i < array.size(); ++i) array[i] = number(i, salt);
  }

  [[nodiscard]] std::int64_t window_size() const {
    return std::int64_t{scene_.window} * scene_.window;
  }
  [[nodiscard]] std::int64_t wave_size() const {
    return std::int64_t{scene_.modes} * scene_.detector * scene_.detector;
  }
  [[nodiscard]] std::int64_t probe_at(int n, int m, int p, int q) const {
    const int mode = scene_.varying_probe ? n * scene_.modes + m : m;
    return (std::int64_t{mode} * scene_.window + p) * scene_.window + q;
  }
  [[nodiscard]] std::int64_t wave_at(int n, int m, int p, int q) const {
    const int margin = spec::margin(scene_);
    return ((std::int64_t{n} * scene_.modes + m) * scene_.detector + margin + p) * scene_.detector +
           margin + q;
  }

  template <class Body>
  void for_each_pixel(const Body& body) const {
    for (int n = 0; n < count_; ++n) {
      for (int m = 0; m < scene_.modes; ++m) {
        for (int p = 0; p < scene_.window; ++p) {
          for (int q = 0; q < scene_.window; ++q) body(n, m, p, q);
        }
      }
    }
  }

  /// Calls body(at, weight) for the object's pixels that pixel (p, q) of a window covers.
  template <class Body>
  void for_each_tap(int n, int p, int q, const Body& body) {
    const double row = std::floor(coordinate(n, 0));
    const double col = std::floor(coordinate(n, 1));
    const float f = coordinate(n, 0) - static_cast<float>(row);
    const float g = coordinate(n, 1) - static_cast<float>(col);
    for (int tap = 0; tap < 4; ++tap) {
      const int down = tap / 2;
      const int right = tap % 2;
      const double r = row + p + down;
      const double c = col + q + right;
      const float weight = (down == 0 ? 1 - f : f) * (right == 0 ? 1 - g : g);
      const bool exists = r >= 0 && r < scene_.rows && c >= 0 && c < scene_.cols;
      if (!exists || weight == 0) continue;
      body(static_cast<std::int64_t>(r) * scene_.cols + static_cast<std::int64_t>(c), weight);
    }
  }
  Complex<float> patch(int n, int p, int q) {
    Complex<float> sum;
    for_each_tap(n, p, q, [&](std::int64_t at, float weight) { sum += weight * object_[at]; });
    return sum;
  }

  /// Calls pass(fused, batch, got) for all batches, with several batch sizes. Expects that they
  /// leave `wanted` in an array that holds `before` and begins `offset` components behind an
  /// aligned address. A batch without positions must leave all as it was.
  template <class Value, class Pass>
  void expect_from(const Value& before, int offset, GuardedArray<Value>& wanted, const Pass& pass) {
    GuardedArray<Value> got(wanted.size(), offset);
    for (const std::int64_t batch_max : {1, 9, 33, 1000}) {
      SCOPED_TRACE(batch_max);
      got.fill(before);
      FusedPasses<float> fused(cluster_, scene_, batch_max);
      fused.for_each_batch(count_, [&](Batch batch) { pass(fused, batch, got.data()); });
      expect_same(got, wanted);
    }
    SCOPED_TRACE("without positions");
    Value nine{9};
    if constexpr (components_of<Value> == 2) nine = {9, 9};
    GuardedArray<Value> untouched(wanted.size(), 0);
    for (GuardedArray<Value>* each : {&got, &untouched}) each->fill(nine);
    FusedPasses<float> fused(cluster_, scene_);
    pass(fused, Batch{.count = 0}, got.data());
    expect_same(got, untouched);
  }

  spec::Scene scene_;
  int count_;
  Devices cluster_;
  GuardedReals positions_;
  GuardedWaves object_;
  GuardedWaves probe_;
  GuardedWaves waves_;
  ScanShare<float> scan_;
};

TEST_P(FusedPassesTest, AddsToTheObject) {
  GuardedWaves wanted(object_.size(), 0);
  for_each_pixel([&](int n, int m, int p, int q) {
    const Complex<float> product = conj(probe_[probe_at(n, m, p, q)]) * waves_[wave_at(n, m, p, q)];
    for_each_tap(n, p, q, [&](std::int64_t at, float weight) { wanted[at] += weight * product; });
  });
  expect_from({}, GetParam().offset, wanted, [&](auto& fused, Batch batch, auto* got) {
    fused.add_to_object(0, scan_, batch, waves_.data() + batch.first * wave_size(), got);
  });
}

TEST_P(FusedPassesTest, AddsLight) {
  GuardedReals wanted(object_.size(), 0);
  for_each_pixel([&](int n, int m, int p, int q) {
    const float light = norm(probe_[probe_at(n, m, p, q)]);
    for_each_tap(n, p, q, [&](std::int64_t at, float weight) { wanted[at] += weight * light; });
  });
  expect_from({}, 0, wanted, [&](auto& fused, Batch batch, auto* got) {
    fused.add_light(0, scan_, batch, got);
  });
}

TEST_P(FusedPassesTest, IlluminatesAndLeavesZerosAroundTheWindows) {
  GuardedWaves wanted(waves_.size(), 0);
  for_each_pixel([&](int n, int m, int p, int q) {
    wanted[wave_at(n, m, p, q)] = patch(n, p, q) * probe_[probe_at(n, m, p, q)];
  });
  expect_from({9, 9}, GetParam().offset, wanted, [&](auto& fused, Batch batch, auto* got) {
    fused.illuminate(0, scan_, batch, got + batch.first * wave_size());
  });
}

TEST_P(FusedPassesTest, AddsToTheProbe) {
  GuardedWaves wanted(probe_.size(), 0);
  for_each_pixel([&](int n, int m, int p, int q) {
    wanted[probe_at(n, m, p, q)] += conj(patch(n, p, q)) * waves_[wave_at(n, m, p, q)];
  });
  expect_from({}, GetParam().offset, wanted, [&](auto& fused, Batch batch, auto* got) {
    fused.add_to_probe(0, scan_, batch, waves_.data() + batch.first * wave_size(), got);
  });
}

TEST_P(FusedPassesTest, AddsMagnitudes) {
  GuardedReals wanted(window_size(), 0);
  for_each_pixel([&](int n, int m, int p, int q) {
    if (m == 0) wanted[p * scene_.window + q] += norm(patch(n, p, q));
  });
  expect_from({}, 0, wanted, [&](auto& fused, Batch batch, auto* got) {
    fused.add_magnitudes(0, scan_, batch, got);
  });
}

/// At each pixel, one mode has an amplitude of 5 or 10. The other modes have 0. Without a mask, all
/// pixels are compared.
TEST_P(FusedPassesTest, Compares) {
  const std::int64_t frame = std::int64_t{scene_.detector} * scene_.detector;
  GuardedReals mask(frame, 0);
  for (std::int64_t pixel = 0; pixel < frame; ++pixel) mask[pixel] = pixel % 5 == 3 ? 0 : 1;
  for (const float* const masked : {mask.data(), static_cast<float*>(nullptr)}) {
    SCOPED_TRACE(masked == nullptr ? "without a mask" : "with a mask");
    GuardedWaves far(waves_.size(), GetParam().offset);
    GuardedReals frames(count_ * frame, GetParam().offset);
    GuardedWaves wanted(waves_.size(), 0);
    double wanted_cost = 0;
    for (std::int64_t i = 0; i < count_ * frame; ++i) {
      const std::int64_t at =
          (i / frame * scene_.modes + i % 13 % scene_.modes) * frame + i % frame;
      const auto measured = static_cast<float>(i % 4 + 1);
      const float amplitude = i % 3 == 0 ? 10 : 5;
      far[at] = amplitude == 10 ? Complex<float>{6, 8} : Complex<float>{3, 4};
      frames[i] = measured * measured;
      if (masked != nullptr && masked[i % frame] == 0) continue;
      // The waves count twice, and the gradient three times.
      const float residual = 2 * amplitude - measured;
      wanted[at] = (residual / (2 * amplitude) * 3) * far[at];
      wanted_cost += static_cast<double>(residual) * static_cast<double>(residual);
    }
    double cost = 0;
    const ScanShare<float> scan{.frames = frames.data(), .mask = masked};
    const auto compare = [&](auto& fused, Batch batch, auto* out) {
      if (batch.first == 0) cost = 0;
      const std::int64_t first = batch.first * wave_size();
      fused.compare(0, Noise::gaussian, scan, batch, 2, 3, far.data() + first, out + first, &cost);
      if (batch.first + batch.count == count_) {
        EXPECT_EQ(cost, wanted_cost);
      }
    };
    expect_from({9, 9}, GetParam().offset, wanted, compare);
    FusedPasses<float> fused(cluster_, scene_, 1000);
    cost = 4;
    fused.compare(0, Noise::gaussian, scan_, {.count = 0}, 1, 1, nullptr, nullptr, &cost);
    EXPECT_EQ(cost, 4);
    // The result may replace the waves.
    compare(fused, Batch{.count = count_}, far.data());
    expect_same(far, wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes,
    FusedPassesTest,
    testing::Values(FusedShape{"OnePixel", shape_of(1, 1, 1, 1, 1), 40},
                    FusedShape{"NarrowerThanStrips", shape_of(3, 2, 2, 3, 2), 70},
                    FusedShape{"StripsOfAWindow", shape_of(33, 140, 17, 17, 1), 150},
                    FusedShape{"AllButARowOfAStrip", shape_of(31, 33, 15, 15, 2), 50},
                    FusedShape{"OwnProbes", shape_of(30, 129, 18, 27, 3, true), 80},
                    FusedShape{"WiderThanATile", shape_of(150, 270, 137, 140, 1), 24},
                    FusedShape{"SeveralTiles", shape_of(40, 300, 6, 8, 2), 75},
                    FusedShape{"OwnProbesOnSeveralTiles", shape_of(40, 300, 6, 8, 2, true), 75},
                    FusedShape{.name = "OnPixels",
                               .scene = shape_of(26, 40, 12, 16, 2),
                               .positions = 90,
                               .has_nan = true,
                               .on_pixels = true},
                    FusedShape{.name = "BetweenNaN",
                               .scene = shape_of(40, 40, 13, 13, 1),
                               .positions = 60,
                               .has_nan = true},
                    FusedShape{"ManyOnATile", shape_of(16, 20, 9, 11, 1), 300},
                    FusedShape{"FromAnyComponentOn", shape_of(33, 140, 17, 19, 2), 70, 1},
                    FusedShape{"FromAnyNumberOn", shape_of(33, 140, 17, 19, 2, true), 70, 2},
                    FusedShape{"LargerThanAChunk", shape_of(35, 40, 33, 33, 2), 75}),
    [](const auto& shape) { return shape.param.name; });

}  // namespace
}  // namespace rankcheck::gpu
