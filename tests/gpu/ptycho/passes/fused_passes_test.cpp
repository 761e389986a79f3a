#include "gpu/ptycho/passes/fused_passes.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "tests/gpu/ptycho/devices.hpp"

/// Sizes for which suites are too small: several batches, tiles, groups of positions and levels of
/// sums. Numbers are small multiples of 1/4, so all sums are exact and the tests compare bits.
namespace rankcheck::gpu {
namespace {

using Wave = Complex<float>;

constexpr int positions_count = 75;
constexpr int width = 6;
constexpr int detector = 8;

spec::Scene scene_of(int modes, bool varying_probe) {
  spec::Scene scene;
  scene.rows = 40;
  scene.cols = 300;
  scene.modes = modes;
  scene.window = width;
  scene.detector = detector;
  scene.varying_probe = varying_probe;
  return scene;
}

Wave small(std::int64_t i) {
  return {static_cast<float>(i * 7 % 11 - 5), static_cast<float>(i * 5 % 7 - 3)};
}

std::vector<Wave> waves_of(std::int64_t count) {
  std::vector<Wave> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(small(i));
  return all;
}

class FusedPassesTest : public testing::TestWithParam<bool> {
 protected:
  FusedPassesTest() : scene_(scene_of(2, GetParam())), cluster_(1) {
    // Positions over both edges of the object, on and between its pixels, several on each tile.
    for (int n = 0; n < positions_count; ++n) {
      positions_.push_back(static_cast<float>(n * 13 % 41) - 3.0F +
                           0.5F * static_cast<float>(n % 2));
      positions_.push_back(static_cast<float>(n * 29 % 299) - 2.0F +
                           0.5F * static_cast<float>(n / 2 % 2));
    }
    object_ = waves_of(std::int64_t{scene_.rows} * scene_.cols);
    probe_ = waves_of(std::int64_t{scene_.modes} * width * width *
                      (scene_.varying_probe ? positions_count : 1));
    waves_ = waves_of(std::int64_t{positions_count} * scene_.modes * detector * detector);
    scan_ = {.object = object_.data(), .probe = probe_.data(), .positions = positions_.data()};
  }

  [[nodiscard]] std::int64_t probe_at(int n, int m, int p, int q) const {
    const int mode = scene_.varying_probe ? n * scene_.modes + m : m;
    return (std::int64_t{mode} * width + p) * width + q;
  }
  [[nodiscard]] std::int64_t wave_at(int n, int m, int p, int q) const {
    return ((std::int64_t{n} * scene_.modes + m) * detector + p + 1) * detector + q + 1;
  }

  /// Calls body(n, p, q, row, col, weight) for every pixel of a window and every object pixel that
  /// it covers.
  template <class Body>
  void for_each_tap(const Body& body) const {
    for (int n = 0; n < positions_count; ++n) {
      for (int p = 0; p < width; ++p) {
        for (int q = 0; q < width; ++q) {
          for (int tap = 0; tap < 4; ++tap) {
            // Twice a position's coordinate is a whole number.
            const int row2 = static_cast<int>(2 * positions_[spec::to_size(2 * n)]) + 6;
            const int col2 = static_cast<int>(2 * positions_[spec::to_size(2 * n + 1)]) + 4;
            const int row = row2 / 2 - 3 + p + tap / 2;
            const int col = col2 / 2 - 2 + q + tap % 2;
            const float f = row2 % 2 == 0 ? 0.0F : 0.5F;
            const float g = col2 % 2 == 0 ? 0.0F : 0.5F;
            const float weight = (tap / 2 == 0 ? 1 - f : f) * (tap % 2 == 0 ? 1 - g : g);
            if (row < 0 || row >= scene_.rows || col < 0 || col >= scene_.cols) continue;
            body(n, p, q, std::int64_t{row} * scene_.cols + col, weight);
          }
        }
      }
    }
  }

  static void expect_same(const std::vector<Wave>& got, const std::vector<Wave>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].re, wanted[i].re) << i;
      ASSERT_EQ(got[i].im, wanted[i].im) << i;
    }
  }

  spec::Scene scene_;
  Devices cluster_;
  std::vector<float> positions_;
  std::vector<Wave> object_;
  std::vector<Wave> probe_;
  std::vector<Wave> waves_;
  ScanShare<float> scan_;
};

TEST_P(FusedPassesTest, AddsEveryTapToTheObjectWhateverTheBatches) {
  std::vector<Wave> wanted(object_.size());
  for_each_tap([&](int n, int p, int q, std::int64_t at, float weight) {
    for (int m = 0; m < scene_.modes; ++m) {
      wanted[spec::to_size(at)] += weight * (conj(probe_[spec::to_size(probe_at(n, m, p, q))]) *
                                             waves_[spec::to_size(wave_at(n, m, p, q))]);
    }
  });
  for (const std::int64_t positions_of_batch : {1, 7, 100}) {
    FusedPasses<float> fused(cluster_, scene_, positions_of_batch);
    std::vector<Wave> got(object_.size());
    fused.for_each_batch(positions_count, [&](Batch batch) {
      const Wave* const first = waves_.data() + wave_at(static_cast<int>(batch.first), 0, -1, -1);
      fused.add_to_object(0, scan_, batch, first, got.data());
    });
    expect_same(got, wanted);
  }
}

TEST_P(FusedPassesTest, AddsEveryPositionToTheProbeWhateverTheBatches) {
  std::vector<Wave> wanted(probe_.size());
  for_each_tap([&](int n, int p, int q, std::int64_t at, float weight) {
    for (int m = 0; m < scene_.modes; ++m) {
      wanted[spec::to_size(probe_at(n, m, p, q))] +=
          weight * (conj(object_[spec::to_size(at)]) * waves_[spec::to_size(wave_at(n, m, p, q))]);
    }
  });
  // 75 positions are three groups.
  for (const std::int64_t positions_of_batch : {1, 7, 100}) {
    FusedPasses<float> fused(cluster_, scene_, positions_of_batch);
    std::vector<Wave> got(probe_.size());
    fused.for_each_batch(positions_count, [&](Batch batch) {
      const Wave* const first = waves_.data() + wave_at(static_cast<int>(batch.first), 0, -1, -1);
      fused.add_to_probe(0, scan_, batch, first, got.data());
    });
    expect_same(got, wanted);
  }
}

TEST_P(FusedPassesTest, AddsTheLightOfEveryWindowWhateverTheBatches) {
  std::vector<float> wanted(object_.size());
  for_each_tap([&](int n, int p, int q, std::int64_t at, float weight) {
    for (int m = 0; m < scene_.modes; ++m) {
      wanted[spec::to_size(at)] += weight * norm(probe_[spec::to_size(probe_at(n, m, p, q))]);
    }
  });
  for (const std::int64_t positions_of_batch : {7, 100}) {
    FusedPasses<float> fused(cluster_, scene_, positions_of_batch);
    std::vector<float> got(object_.size());
    fused.for_each_batch(positions_count,
                         [&](Batch batch) { fused.add_light(0, scan_, batch, got.data()); });
    EXPECT_EQ(got, wanted);
  }
}

TEST_P(FusedPassesTest, AddsTheSquaresUnderEveryWindowWhateverTheBatches) {
  constexpr std::size_t size = std::size_t{width} * width;
  std::vector<Wave> patches(positions_count * size);
  for_each_tap([&](int n, int p, int q, std::int64_t at, float weight) {
    patches[spec::to_size((n * width + p) * width + q)] += weight * object_[spec::to_size(at)];
  });
  std::vector<float> wanted(size);
  for (std::size_t i = 0; i < patches.size(); ++i) wanted[i % size] += norm(patches[i]);
  for (const std::int64_t positions_of_batch : {7, 100}) {
    FusedPasses<float> fused(cluster_, scene_, positions_of_batch);
    std::vector<float> got(size);
    fused.for_each_batch(positions_count,
                         [&](Batch batch) { fused.add_magnitudes(0, scan_, batch, got.data()); });
    EXPECT_EQ(got, wanted);
  }
}

TEST_P(FusedPassesTest, LightsWindowsAndLeavesZerosAroundThem) {
  std::vector<Wave> wanted(waves_.size());
  for_each_tap([&](int n, int p, int q, std::int64_t at, float weight) {
    for (int m = 0; m < scene_.modes; ++m) {
      wanted[spec::to_size(wave_at(n, m, p, q))] +=
          weight * (object_[spec::to_size(at)] * probe_[spec::to_size(probe_at(n, m, p, q))]);
    }
  });
  for (const std::int64_t positions_of_batch : {7, 100}) {
    FusedPasses<float> fused(cluster_, scene_, positions_of_batch);
    std::vector<Wave> got(waves_.size(), Wave{9, 9});
    fused.for_each_batch(positions_count, [&](Batch batch) {
      Wave* const first = got.data() + wave_at(static_cast<int>(batch.first), 0, -1, -1);
      fused.illuminate(0, scan_, batch, first);
    });
    expect_same(got, wanted);
  }
}

TEST_P(FusedPassesTest, LeavesAllAsItWasWithoutPositions) {
  FusedPasses<float> fused(cluster_, scene_);
  std::vector<Wave> of_object = object_;
  std::vector<Wave> of_probe = probe_;
  std::vector<float> weight(object_.size(), 3);
  double cost = 4;
  fused.illuminate(0, scan_, {.count = 0}, waves_.data());
  fused.compare(0, Noise::gaussian, scan_, {.count = 0}, 1, 1, nullptr, nullptr, &cost);
  fused.add_to_object(0, scan_, {.count = 0}, waves_.data(), of_object.data());
  fused.add_to_probe(0, scan_, {.count = 0}, waves_.data(), of_probe.data());
  fused.add_light(0, scan_, {.count = 0}, weight.data());
  fused.add_magnitudes(0, scan_, {.count = 0}, weight.data());
  expect_same(of_object, object_);
  expect_same(of_probe, probe_);
  expect_same(waves_, waves_of(static_cast<std::int64_t>(waves_.size())));
  EXPECT_EQ(weight, std::vector<float>(object_.size(), 3));
  EXPECT_EQ(cost, 4);
}

/// Amplitudes of 5 meet measured amplitudes of 2, so each measured pixel costs 9.
TEST_P(FusedPassesTest, AddsUpTheCostsOfAllPixelsWhateverTheBatches) {
  scene_.modes = 1;
  const std::int64_t frame = std::int64_t{detector} * detector;
  const std::vector<float> frames(spec::to_size(positions_count * frame), 4.0F);
  const std::vector<Wave> far(frames.size(), Wave{3, 4});
  std::vector<float> mask(spec::to_size(frame), 1.0F);
  mask[5] = 0;
  for (const std::int64_t positions_of_batch : {1, 7, 100}) {
    FusedPasses<float> fused(cluster_, scene_, positions_of_batch);
    std::vector<Wave> gradient(far.size());
    std::vector<Wave> far_gradient(far.size());
    double cost = 0;
    fused.for_each_batch(positions_count, [&](Batch batch) {
      fused.compare(0,
                    Noise::gaussian,
                    {.frames = frames.data(), .mask = mask.data()},
                    batch,
                    1,
                    2,
                    far.data() + batch.first * frame,
                    gradient.data() + batch.first * frame,
                    &cost);
    });
    EXPECT_EQ(cost, 9.0 * positions_count * static_cast<double>(frame - 1));
    double cost_of_all = 0;
    fused.for_each_batch(positions_count, [&](Batch batch) {
      fused.compare(0,
                    Noise::gaussian,
                    {.frames = frames.data(), .mask = nullptr},
                    batch,
                    1,
                    2,
                    far.data() + batch.first * frame,
                    far_gradient.data() + batch.first * frame,
                    &cost_of_all);
    });
    EXPECT_EQ(cost_of_all, 9.0 * positions_count * static_cast<double>(frame));
    EXPECT_EQ(gradient[5].re, 0);
    EXPECT_EQ(gradient.back().re, 2 * (3.0F / 5.0F) * 3.0F);
  }
}

INSTANTIATE_TEST_SUITE_P(Probes, FusedPassesTest, testing::Bool(), [](const auto& probe) {
  return probe.param ? "Varying" : "Shared";
});

}  // namespace
}  // namespace rankcheck::gpu
