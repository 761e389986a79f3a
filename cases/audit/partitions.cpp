#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"

/// Scan positions that reach the wrong ranks, or return in the wrong order.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::Array;

/// Returns the rows (axis 0) or the columns (axis 1) of all positions.
template <class Real>
std::vector<Real> coordinates(const InterceptedCall& intercepted, std::size_t axis) {
  const Values positions = intercepted.all_input(Array::positions);
  std::vector<Real> all;
  for (std::size_t i = axis; i < positions.size(); i += 2) {
    all.push_back(static_cast<Real>(positions[i].real()));
  }
  return all;
}

/// Returns the index of the cell of this width that contains the coordinate. A coordinate on an
/// edge belongs to the cell below it, except 0. The remainder of the division is exact; the width
/// is rounded.
template <class Real>
Real cell(Real at, Real width) {
  Real remainder = std::fmod(at, width);
  if (remainder < 0) remainder += width;
  const Real floored = std::round((at - remainder) / width);
  return at != 0 && remainder == 0 ? floored - 1 : floored;
}

/// The splitter of tike's pull request #72: two columns, each with half as many bands as there are
/// ranks. `moved`: first moves the scan to the origin, which tike's code forgot.
template <class Real, bool moved>
void split_like_the_seed(const InterceptedCall& intercepted, Values& owners, int) {
  std::vector<Real> rows = coordinates<Real>(intercepted, 0);
  std::vector<Real> cols = coordinates<Real>(intercepted, 1);
  if (rows.empty()) return;
  for (std::vector<Real>* axis : {&rows, &cols}) {
    const Real least = *std::min_element(axis->begin(), axis->end());
    for (Real& each : *axis) each -= moved ? least : 0;
  }
  const Real height = *std::max_element(rows.begin(), rows.end());
  const Real width = *std::max_element(cols.begin(), cols.end());
  const int bands = intercepted.ranks() / 2;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Real band = height == 0 ? 0 : cell(rows[i], height / static_cast<Real>(bands));
    const Real half = width == 0 ? 0 : cell(cols[i], width / 2);
    owners[i] = static_cast<double>(2 * band + half);
  }
}

bool has_even_ranks(const Case& c) {
  return group_size(c) % 2 == 0;
}

/// Returns the number of positions that a rank owns.
std::size_t owned(const InterceptedCall& intercepted, int rank) {
  const Values owners = intercepted.all_input(Array::owners);
  return spec::to_size(std::count(owners.begin(), owners.end(), static_cast<double>(rank)));
}

/// Replaces the output `array` by the shards of all ranks, in the order of the ranks instead of the
/// positions.
template <Array shard, Array array>
void concatenate(InterceptedCall& intercepted) {
  const auto size = spec::to_size(spec::values(intercepted.call().scene, shard));
  Values all;
  for (int rank = 0; rank < intercepted.ranks(); ++rank) {
    const Values values = intercepted.input(shard, rank);
    const auto end = static_cast<std::ptrdiff_t>(owned(intercepted, rank) * size);
    all.insert(all.end(), values.begin(), values.begin() + end);
  }
  intercepted.set_all_output(array, all);
}

constexpr std::array bugs_in_partitions{
    Bug{.name = "odd_rank_gets_nothing",
        .summary = "If the number of ranks is odd, the last rank gets no positions.",
        .source = "tike PR #72",
        .target = {"partition_quadrants", "gathered"},
        .hits = [](const Case& c) { return group_size(c) % 2 == 1 && group_size(c) > 1; },
        .edit_output = {Array::owners, split_like_the_seed<double, true>}},
    Bug{.name = "quotient_rounded_up",
        .summary =
            "A quotient in single precision is rounded up, so the position goes to the next rank.",
        .source = "tike PR #72",
        .target = {"partition_quadrants", "gathered"},
        .found_by = {"covers_every_position", "belongs to rank"},
        .ranks_max = 6,
        .hits = has_even_ranks,
        .edit_output = {Array::owners, split_like_the_seed<float, true>}},
    Bug{.name = "scan_expected_at_the_origin",
        .summary = "The scan is assumed to start at 0.",
        .source = "tike PR #72",
        .target = {"partition_quadrants", "gathered"},
        .found_by = {"is_invariant_under_translation", "moving the scan changes owners"},
        .hits = has_even_ranks,
        .edit_output = {Array::owners, split_like_the_seed<double, false>}},
    Bug{.name = "lowest_row_in_no_stripe",
        .summary = "Stripes exclude their lower edge, so the lowest row belongs to no stripe.",
        .target = {"partition_stripes", "gathered"},
        .found_by = {"covers_every_position", "belongs to rank -1"},
        .edit_output = {Array::owners,
                        [](const InterceptedCall& intercepted, Values& owners, int) {
                          const auto rows = coordinates<double>(intercepted, 0);
                          if (rows.empty()) return;
                          const double least = *std::min_element(rows.begin(), rows.end());
                          for (std::size_t i = 0; i < rows.size(); ++i) {
                            if (rows[i] == least) owners[i] = -1;
                          }
                        }}},
    Bug{.name = "grid_transposed",
        .summary = "Rows and columns of the grid are swapped.",
        .source = "ptychodus#73",
        .target = {"partition_grid", "gathered"},
        .edit_input = {Array::positions, transpose}},
    Bug{.name = "shares_rounded_up",
        .summary = "All shares are rounded up, so the last ranks get fewer positions or none.",
        .source = "Pty-Chi 5d37add",
        .target = {"partition_equal_stripes", "gathered"},
        .found_by = {"is_balanced", "expected to differ by at most 1"},
        .edit_output = {Array::owners,
                        [](const InterceptedCall& intercepted, Values& owners, int) {
                          const auto rows = coordinates<double>(intercepted, 0);
                          const auto cols = coordinates<double>(intercepted, 1);
                          std::vector<std::size_t> order(rows.size());
                          std::iota(order.begin(), order.end(), std::size_t{0});
                          std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                            return std::tuple(rows[a], cols[a], a) <
                                   std::tuple(rows[b], cols[b], b);
                          });
                          const auto ranks = spec::to_size(intercepted.ranks());
                          const std::size_t share = (order.size() + ranks - 1) / ranks;
                          for (std::size_t i = 0; i < order.size(); ++i) {
                            const std::size_t owner = i / share;
                            owners[order[i]] = static_cast<double>(owner);
                          }
                        }}},
    Bug{.name = "device_taken_for_rank",
        .summary =
            "Device numbers are used as ranks, although the devices are listed in reverse order.",
        .source = "tike 0c8e6c4f",
        .target = {"partition_compact", "gathered"},
        .edit_output = {Array::owners,
                        [](const InterceptedCall& intercepted, Values& owners, int) {
                          for (auto& owner : owners) owner = intercepted.ranks() - 1 - owner.real();
                        }}},
    Bug{.name = "every_rank_draws_its_own",
        .summary = "Every rank draws its own random owners.",
        .source = "tike PR #133",
        .target = {"partition_random", "gathered"},
        .found_by = {"ranks_agree_bitwise", "differs from rank 0"},
        .edit_output = {Array::owners,
                        [](const InterceptedCall&, Values& owners, int rank) {
                          if (owners.empty()) return;
                          const auto by = spec::to_size(rank) % owners.size();
                          std::rotate(owners.begin(),
                                      owners.begin() + static_cast<std::ptrdiff_t>(by),
                                      owners.end());
                        }}},
    Bug{.name = "consecutive_shares_rounded_up",
        .summary = "Every rank takes N / n positions, rounded up, as long as there are any. With 4 "
                   "positions, the last of 3 ranks gets none.",
        .source = "FluxMPI, DistributedDataContainer",
        .target = {"partition_consecutive", "gathered"},
        .found_by = {"is_balanced", "expected to differ by at most 1"},
        .edit_output = {Array::owners,
                        [](const InterceptedCall& intercepted, Values& owners, int) {
                          const auto ranks = spec::to_size(intercepted.ranks());
                          const std::size_t share = (owners.size() + ranks - 1) / ranks;
                          for (std::size_t i = 0; i < owners.size(); ++i) {
                            const std::size_t owner = i / share;
                            owners[i] = static_cast<double>(owner);
                          }
                        }}},
    Bug{.name = "every_rank_counts_from_zero",
        .summary = "Every rank numbers its own positions from 0.",
        .target = {"partition_interlaced", "gathered"},
        .found_by = {"is_independent_of_partition", "differs from the result of another partition"},
        .edit_output = {Array::owners,
                        [](const InterceptedCall& intercepted, Values& owners, int) {
                          auto owner = owners.begin();
                          for (int rank = 0; rank < intercepted.ranks(); ++rank) {
                            for (std::int64_t i = 0; i < intercepted.positions(rank); ++i) {
                              *owner++ = static_cast<double>(i % intercepted.ranks());
                            }
                          }
                        }}},
    Bug{.name = "fused_by_device",
        .summary = "Shards are concatenated in the order of the ranks instead of the positions.",
        .source = "tike PR #72, fixed in f8092768",
        .target = {"fuse", "exchanged"},
        .found_by = {"inverts_redistribute", "fused data differ from what was redistributed"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              concatenate<Array::shard_positions, Array::positions>(intercepted);
              concatenate<Array::shard_frames, Array::frames>(intercepted);
            }},
    Bug{.name = "frames_in_another_order",
        .summary = "Positions and frames arrive in different orders.",
        .source = "ptychodus#80",
        .target = {"redistribute", "exchanged"},
        .edit_output = {Array::shard_positions,
                        [](const InterceptedCall& intercepted, Values& values, int rank) {
                          const auto count = static_cast<std::ptrdiff_t>(owned(intercepted, rank));
                          for (std::ptrdiff_t i = 0; i < count / 2; ++i) {
                            std::swap_ranges(values.begin() + 2 * i,
                                             values.begin() + 2 * i + 2,
                                             values.begin() + 2 * (count - 1 - i));
                          }
                        }}},
    Bug{.name = "remainder_dropped",
        .summary = "If positions cannot be split evenly, the remainder is dropped.",
        .source = "Pty-Chi 5d37add",
        .target = {"redistribute", "exchanged"},
        .edit_output = {Array::shard_positions,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          const auto even =
                              spec::to_size(intercepted.positions() / intercepted.ranks());
                          std::fill(values.begin() + static_cast<std::ptrdiff_t>(2 * even),
                                    values.end(),
                                    0);
                        }}},
};

}  // namespace

void add_bugs_in_partitions(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_partitions.begin(), bugs_in_partitions.end());
}

}  // namespace rankcheck::cases::audit
