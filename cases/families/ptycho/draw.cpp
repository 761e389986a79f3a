#include "cases/families/ptycho/draw.hpp"

#include <algorithm>
#include <cstddef>

#include "reference/spec/to_size.hpp"

#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Drawing;
using harness::Feature;
using harness::group_size;
using harness::RandomSource;

// Cases stay small: a small case shows a defect faster than a large one.
constexpr std::int64_t width_max = 12;
constexpr std::int64_t positions_max = 24;

/// Makes the case large in the way of the goal, or in any way if that is none of these classes.
void draw_large_scene(RandomSource& random, std::string_view goal, Case& out) {
  spec::Scene& scene = ptycho(out).scene;
  // All other sizes stay small, so that a large case takes about as long as a few others.
  scene.window = std::min(scene.window, 3);
  scene.detector = scene.window;
  scene.modes = std::min(scene.modes, 2);
  for (std::int64_t& count : out.counts) count = std::min<std::int64_t>(count, 2);
  const auto member = spec::to_size(random.below(group_size(out)));
  const auto wanted = std::find(large_scenes.begin(), large_scenes.end(), goal);
  const std::int64_t any = random.below(4);
  switch (wanted == large_scenes.end() ? any : wanted - large_scenes.begin()) {
    case 0:
      scene.cols = static_cast<int>(random.between(large_cols + 1, large_cols + 40));
      break;
    case 1:
      scene.detector = static_cast<int>(random.between(large_detector + 1, large_detector + 8));
      break;
    default:
      out.counts[member] = random.between(large_positions + 1, large_positions + 60);
  }
}

void draw_tiles(RandomSource& random, Case& out) {
  const int n = group_size(out);
  spec::Scene& scene = ptycho(out).scene;
  scene.halo = static_cast<int>(random.chance(32) ? 0 : random.log_between(1, 8));
  scene.tile_cols = static_cast<int>(random.chance(128) ? 1 : random.between(1, n));
  const std::int64_t length = scene.tile_cols == n ? scene.cols : scene.rows;
  const std::int64_t even = 1 + length * scene.tile_cols / n;
  // Some tiles are empty, some are narrower than the halo, and some end with the object.
  out.counts.assign(spec::to_size(n), 0);
  for (std::int64_t& count : out.counts) count = random.below(2 * even);
}

void draw_positions(const Drawing& drawing, Case& out) {
  Drawing few = drawing;
  few.size = std::min(drawing.size, 30);
  const int n = group_size(out);
  const std::int64_t limit = std::max<std::int64_t>(1, few.limit());
  out.counts = few.counts(n, n, limit);
  // Operators have no gap. Drawing one keeps the cases of all seeds as they are.
  static_cast<void>(few.gap());
  for (std::int64_t& count : out.counts) count = std::min(count, positions_max);
}

}  // namespace

void draw_operator(const spec::Contract& contract, const Drawing& drawing, Case& out) {
  const spec::OperatorTraits& traits = ptycho(contract);
  RandomSource& random = drawing.random;
  const std::int64_t width = 1 + (width_max - 1) * std::clamp(drawing.size, 0, 100) / 100;
  PtychoCase& own = ptycho(out);
  spec::Scene& scene = own.scene;
  scene.window = static_cast<int>(random.between(1, width));
  const auto room = [&] { return random.chance(64) ? 0 : random.below(width + 1); };
  scene.rows = static_cast<int>(scene.window + room());
  scene.cols = static_cast<int>(scene.window + room());
  scene.detector = static_cast<int>(scene.window + (random.chance(128) ? 0 : random.below(4)));
  scene.modes = random.chance(128) ? 1 : static_cast<int>(random.between(1, 3));
  scene.varying_probe = random.chance(64) && !traits.shares_probe;
  if (traits.multislice && random.chance(128)) {
    scene.slices = static_cast<int>(random.between(1, 3));
  }
  if (traits.in_free_space || scene.slices > 1) {
    // Sixteenths have an exact decimal text. Wavelengths above two pixels do not reach all
    // frequencies.
    scene.wavelength = static_cast<double>(random.log_between(4, 127)) / 16;
    if (!random.chance(32)) scene.distance = static_cast<double>(random.between(-128, 128)) / 16;
    if (random.chance(64)) scene.distance *= 64;
  }
  own.scan = static_cast<Scan>(random.below(5));
  if (traits.tiled) return draw_tiles(random, out);
  draw_positions(drawing, out);
  const bool is_goal = std::ranges::count(large_scenes, drawing.goal) > 0;
  if (is_goal || drawing.enabled(Feature::large)) draw_large_scene(random, drawing.goal, out);
}

}  // namespace rankcheck::cases
