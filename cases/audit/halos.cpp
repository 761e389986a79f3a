#include <algorithm>
#include <array>
#include <complex>
#include <cstdlib>
#include <map>
#include <utility>

#include "reference/ptycho/halo.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"

/// Bugs in combining the copies of a pixel that several tiles have.
namespace rankcheck::cases::audit {

namespace {

using reference::Replica;
using spec::Array;

using Replicas = std::vector<Replica>;

/// One copy of a pixel of the object, together with all copies of this pixel.
struct Copy {
  const spec::Scene& scene;
  std::int64_t row;
  std::int64_t col;
  const Replicas& all;
  const Replica& self;
};

/// Runs the exchange, then replaces every copy by value(copy, tiles before, tiles after the
/// exchange).
template <class Body>
void remake(InterceptedCall& intercepted, const Body& value) {
  intercepted.run();
  const Values before = intercepted.all_input(Array::tile);
  Values behind;
  for (int rank = 0; rank < intercepted.ranks(); ++rank) {
    const Values of_rank = intercepted.output(Array::tile, rank);
    behind.insert(behind.end(), of_rank.begin(), of_rank.end());
  }
  reference::OperatorArrays arrays;
  arrays.scene = intercepted.call().scene;
  arrays.counts = intercepted.call().counts;
  Values wrong = behind;
  reference::for_each_replicated_pixel(
      arrays, [&](std::int64_t row, std::int64_t col, const Replicas& replicas) {
        for (const Replica& each : replicas) {
          wrong[each.place] = value(Copy{arrays.scene, row, col, replicas, each}, before, behind);
        }
      });
  intercepted.set_all_output(Array::tile, wrong);
}

/// The same for a function that needs nothing else.
template <auto value>
void remade(InterceptedCall& intercepted) {
  remake(intercepted, value);
}

/// Sums the copies for which counts(copy) is true.
template <class Counts>
std::complex<double> sum_of(const Copy& copy, const Values& values, const Counts& counts) {
  std::complex<double> sum = 0;
  for (const Replica& each : copy.all) {
    if (counts(each)) sum += values[each.place];
  }
  return sum;
}

constexpr std::array bugs_in_halos{
    Bug{.name = "halo_sent_one_way",
        .summary = "Each rank adds the copies of lower ranks, but not the copies of higher ranks.",
        .target = {"halo_accumulate", "exchanged"},
        .found_by = {"makes_copies_equal", "differs from another rank's copy"},
        .replace_call = remade<[](const Copy& copy, const Values& before, const Values&) {
          return sum_of(
              copy, before, [&](const Replica& each) { return each.rank <= copy.self.rank; });
        }>},
    Bug{.name = "overlaps_averaged",
        .summary = "Copies are averaged instead of summed.",
        .source = "Pty-Chi 93c585a",
        .target = {"halo_accumulate", "exchanged"},
        .found_by = {"multiplies_when_repeated", "does not multiply by the number of copies"},
        .replace_call = remade<[](const Copy& copy, const Values&, const Values& behind) {
          return behind[copy.self.place] / static_cast<double>(copy.all.size());
        }>},
    Bug{.name = "corner_counted_twice",
        .summary = "A corner that four tiles share is added twice: once with the row and once with "
                   "the column.",
        .target = {"halo_accumulate", "exchanged"},
        .found_by = {"conserves_the_sum", "the sum was"},
        .ranks_max = 4,
        .replace_call = remade<[](const Copy& copy, const Values& before, const Values& behind) {
          const bool is_corner = copy.all.size() >= 4;
          const auto again = before[copy.all.back().place];
          return behind[copy.self.place] + (is_corner ? again : 0);
        }>},
    Bug{.name = "neighbours_only",
        .summary = "Only copies of neighbouring ranks are added, although overlaps reach further.",
        .target = {"halo_accumulate", "exchanged"},
        .replace_call = remade<[](const Copy& copy, const Values& before, const Values&) {
          return sum_of(copy, before, [&](const Replica& each) {
            return std::abs(each.rank - copy.self.rank) <= 1;
          });
        }>},
    Bug{.name = "copies_swapped",
        .summary = "Two ranks swap their copies instead of both taking the owner's copy.",
        .source = "tike, swap_edges",
        .target = {"halo_replace", "exchanged"},
        .found_by = {"is_idempotent", "the second exchange changes it"},
        .replace_call = remade<[](const Copy& copy, const Values& before, const Values&) {
          const auto self = spec::to_size(&copy.self - copy.all.data());
          return before[copy.all[(self + 1) % copy.all.size()].place];
        }>},
    Bug{.name = "edges_off_by_one",
        .summary = "The edge between two tiles is assumed to be one row lower than it is.",
        .source = "tike 6ce09ce7",
        .target = {"halo_replace", "exchanged"},
        .found_by = {"does_nothing_without_halo", "changed without a halo"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              // Values of the pixels visited so far, by row and column.
              std::map<std::pair<std::int64_t, std::int64_t>, std::complex<double>> above;
              remake(intercepted,
                     [&](const Copy& copy, const Values& before, const Values& behind) {
                       above[{copy.row, copy.col}] = before[copy.self.place];
                       const bool is_first = copy.row > 0 && copy.row == copy.self.box.row;
                       return is_first ? above[{copy.row - 1, copy.col}] : behind[copy.self.place];
                     });
            }},
    Bug{.name = "ramps_do_not_add_up",
        .summary = "The weights of overlapping tiles do not add up to 1.",
        .source = "tike, swap_edges",
        .target = {"halo_blend", "exchanged"},
        .found_by = {"stays_between_the_copies", "lies outside the range of its copies"},
        .replace_call = remade<[](const Copy& copy, const Values&, const Values& behind) {
          const double steps = 2.0 * copy.scene.halo + 1;
          const double sum = copy.all.size() == 1 ? 1 : 1 + 1 / steps;
          return sum * behind[copy.self.place];
        }>},
    Bug{.name = "own_copy_counts_more",
        .summary = "Every rank averages the result with its own copy again.",
        .source = "tike PR #322",
        .target = {"halo_blend", "exchanged"},
        .found_by = {"is_idempotent", "the second exchange changes it"},
        .replace_call = remade<[](const Copy& copy, const Values& before, const Values& behind) {
          return 0.5 * (before[copy.self.place] + behind[copy.self.place]);
        }>},
};

}  // namespace

void add_bugs_in_halos(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_halos.begin(), bugs_in_halos.end());
}

}  // namespace rankcheck::cases::audit
