#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string>

#include "harness/generator.hpp"
#include "harness/shuffle.hpp"

/// How the generator draws one case: it fills in what the contract leaves open, feature by feature.
namespace rankcheck::harness {

namespace {

using spec::InPlace;
using spec::Sizes;

constexpr std::array<std::int64_t, 16> primes{
    2, 3, 5, 7, 11, 13, 17, 19, 23, 31, 37, 61, 127, 251, 509, 1021};

bool is_uneven(const spec::Contract& contract) {
  return contract.sizes == Sizes::counts_per_rank || contract.sizes == Sizes::counts_per_pair;
}

std::int64_t power_and_neighbours(Choices& choices, std::int64_t limit) {
  return (std::int64_t{1} << choices.below(std::bit_width(static_cast<std::uint64_t>(limit)))) +
         choices.between(-1, 1);
}

}  // namespace

void Generator::draw_case(Choices& choices, const Draw& draw, Case& out) const {
  const spec::Contract& contract = operation_.contract;
  out = base_;
  out.ranks = draw.ranks > 0 ? draw.ranks : draw_ranks(choices);
  if (draw.ranks == 0 && enabled(Feature::group, draw, choices)) draw_group(choices, out);
  const int n = group_size(out);
  if (contract.rooted) out.root = static_cast<int>(choices.below(n));
  if (contract.sizes == Sizes::count) {
    out.count = draw_count(choices, draw, n, draw_limit(choices, draw));
  }
  if (is_uneven(contract)) draw_counts(choices, draw, out);
  if (contract.sizes == Sizes::scene) draw_scene(choices, draw, out);
  if (contract.patterned) {
    out.pattern = static_cast<spec::Pattern>(choices.below(3));
    if (out.pattern == spec::Pattern::ring) out.shift = static_cast<int>(choices.between(-n, n));
  }
  draw_site(choices, draw, out);
  out.data_seed = static_cast<std::uint64_t>(choices.between(1, 99999));
}

int Generator::draw_ranks(Choices& choices) const {
  std::int64_t ranks = 0;
  switch (choices.below(8)) {
    case 0:
    case 1:
    case 2:
      ranks = choices.between(1, 3);
      break;
    case 3:
      ranks = power_and_neighbours(choices, ranks_max_);
      break;
    case 4:
      ranks = ranks_max_;
      break;
    default:
      ranks = choices.between(ranks_min_, ranks_max_);
  }
  return static_cast<int>(std::clamp<std::int64_t>(ranks, ranks_min_, ranks_max_));
}

void Generator::draw_group(Choices& choices, Case& out) const {
  out.group.resize(static_cast<std::size_t>(out.ranks));
  std::iota(out.group.begin(), out.group.end(), 0);
  shuffle(choices, out.group);
  switch (choices.below(4)) {
    case 0:
      out.group.resize(1);
      break;
    case 1:
      break;
    default:
      out.group.resize(static_cast<std::size_t>(choices.between(1, out.ranks)));
      if (choices.chance(128)) std::sort(out.group.begin(), out.group.end());
  }
  const bool whole = static_cast<int>(out.group.size()) == out.ranks;
  if (whole && std::is_sorted(out.group.begin(), out.group.end())) out.group.clear();
}

std::int64_t Generator::draw_limit(Choices& choices, const Draw& draw) const {
  if (enabled(Feature::large, draw, choices) || draw.large) return elements_max;
  return 1 + std::int64_t{63} * std::clamp(draw.size, 0, 100) / 100;
}

std::int64_t Generator::draw_count(Choices& choices,
                                   const Draw& draw,
                                   std::int64_t ranks,
                                   std::int64_t limit) const {
  if (!draw.has_data && enabled(Feature::empty, draw, choices)) return 0;
  std::int64_t count = 1;
  switch (choices.below(8)) {
    case 0:
      break;
    case 1:
      count = choices.between(ranks - 1, ranks + 1);
      break;
    case 2:
      count = ranks * choices.between(1, 3) + choices.between(-1, 1);
      break;
    case 3:
      count = power_and_neighbours(choices, limit);
      break;
    case 4: {
      const auto end = std::upper_bound(primes.begin(), primes.end(), limit);
      if (end != primes.begin()) {
        count = primes[static_cast<std::size_t>(choices.below(end - primes.begin()))];
      }
      break;
    }
    default:
      count = choices.log_between(1, limit);
  }
  return std::clamp<std::int64_t>(count, 1, elements_max);
}

void Generator::draw_counts(Choices& choices, const Draw& draw, Case& out) const {
  const std::int64_t n = group_size(out);
  const bool pairs = operation_.contract.sizes == Sizes::counts_per_pair;
  const std::int64_t limit = std::max<std::int64_t>(1, draw_limit(choices, draw) / (pairs ? n : 1));
  Draw with_data = draw;
  with_data.has_data = true;
  Draw without = draw;
  without.has_data = false;
  const std::int64_t base = draw_count(choices, with_data, n, limit);
  const std::int64_t size = pairs ? n * n : n;
  const auto chosen = static_cast<std::size_t>(choices.below(size));
  const std::int64_t shape = choices.below(6);
  out.counts.assign(static_cast<std::size_t>(size), 0);
  for (std::size_t i = 0; i < out.counts.size(); ++i) {
    std::int64_t& count = out.counts[i];
    if (shape == 0) count = base;                                        // equal
    if (shape == 1) count = i == chosen ? 0 : base;                      // one empty
    if (shape == 2) count = i == chosen ? 16 * base : choices.below(2);  // one huge
    if (shape == 3) count = base - 1 + static_cast<std::int64_t>(i);     // increasing
    if (shape == 4) count = choices.chance(64) ? base : 0;               // sparse
    if (shape == 5) count = draw_count(choices, without, n, limit);      // random
  }
  if (!draw.has_data && enabled(Feature::empty, draw, choices)) {
    std::fill(out.counts.begin(), out.counts.end(), 0);
  }
  if (draw.has_data && std::count(out.counts.begin(), out.counts.end(), 0) == size) {
    out.counts[chosen] = base;
  }
  if (enabled(Feature::gap, draw, choices)) out.gap = choices.between(1, 3);
}

void Generator::draw_scene(Choices& choices, const Draw& draw, Case& out) const {
  // Cases stay small: a small case shows a defect faster than a large one.
  constexpr std::int64_t width_max = 12;
  constexpr std::int64_t positions_max = 24;
  const std::int64_t width = 1 + (width_max - 1) * std::clamp(draw.size, 0, 100) / 100;
  spec::Scene& scene = out.scene;
  scene.window = static_cast<int>(choices.between(1, width));
  const auto room = [&] { return choices.chance(64) ? 0 : choices.below(width + 1); };
  scene.rows = static_cast<int>(scene.window + room());
  scene.cols = static_cast<int>(scene.window + room());
  scene.detector = static_cast<int>(scene.window + (choices.chance(128) ? 0 : choices.below(4)));
  scene.modes = choices.chance(128) ? 1 : static_cast<int>(choices.between(1, 3));
  scene.varying_probe = choices.chance(64) && !operation_.contract.shares_probe;
  if (operation_.contract.multislice && choices.chance(128)) {
    scene.slices = static_cast<int>(choices.between(1, 3));
  }
  if (operation_.contract.in_free_space || scene.slices > 1) {
    // Sixteenths have an exact decimal text. Wavelengths above two pixels do not reach all
    // frequencies.
    scene.wavelength = static_cast<double>(choices.log_between(4, 127)) / 16;
    if (!choices.chance(32)) scene.distance = static_cast<double>(choices.between(-128, 128)) / 16;
    if (choices.chance(64)) scene.distance *= 64;
  }
  out.scan = static_cast<Scan>(choices.below(5));
  if (operation_.contract.tiled) return draw_tiles(choices, out);
  Draw few = draw;
  few.size = std::min(draw.size, 30);
  draw_counts(choices, few, out);
  out.gap = 0;
  for (std::int64_t& count : out.counts) count = std::min(count, positions_max);
  if (draw.large_scene || enabled(Feature::large, draw, choices)) draw_large_scene(choices, out);
}

void Generator::draw_large_scene(Choices& choices, Case& out) const {
  spec::Scene& scene = out.scene;
  // All other sizes stay small, so that a large case takes about as long as a few others.
  scene.window = std::min(scene.window, 3);
  scene.detector = scene.window;
  scene.modes = std::min(scene.modes, 2);
  for (std::int64_t& count : out.counts) count = std::min<std::int64_t>(count, 2);
  const auto member = static_cast<std::size_t>(choices.below(group_size(out)));
  switch (choices.below(4)) {
    case 0:
      scene.cols = static_cast<int>(choices.between(large_cols + 1, large_cols + 40));
      break;
    case 1:
      scene.detector = static_cast<int>(choices.between(large_detector + 1, large_detector + 8));
      break;
    default:
      out.counts[member] = choices.between(large_positions + 1, large_positions + 60);
  }
}

void Generator::draw_tiles(Choices& choices, Case& out) const {
  const int n = group_size(out);
  spec::Scene& scene = out.scene;
  scene.halo = static_cast<int>(choices.chance(32) ? 0 : choices.log_between(1, 8));
  scene.tile_cols = static_cast<int>(choices.chance(128) ? 1 : choices.between(1, n));
  const std::int64_t length = scene.tile_cols == n ? scene.cols : scene.rows;
  const std::int64_t even = 1 + length * scene.tile_cols / n;
  // Some tiles are empty, some are narrower than the halo, and some end with the object.
  out.counts.assign(static_cast<std::size_t>(n), 0);
  for (std::int64_t& count : out.counts) count = choices.below(2 * even);
}

void Generator::draw_site(Choices& choices, const Draw& draw, Case& out) const {
  if (operation_.contract.in_place != InPlace::none) {
    out.in_place = enabled(Feature::in_place, draw, choices);
  }
  if (enabled(Feature::offset, draw, choices)) out.offset = choices.between(1, 15);
  if (in_chunks_ && enabled(Feature::chunk, draw, choices)) out.chunk = choices.log_between(1, 8);
  if (backend_.traits().has_schedules && enabled(Feature::schedule, draw, choices)) {
    out.schedule = choices.chance(128) ? "random:" : "pct:";
    out.schedule += std::to_string(choices.between(1, 999));
  }
}

}  // namespace rankcheck::harness
