#include "harness/shrink.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

namespace rankcheck::harness {

namespace {

using spec::ReduceOp;
using spec::Type;

// In these lists, the plainest value comes first. A value that is not listed is the least plain.
constexpr std::array plain_types{Type::f32,
                                 Type::int32,
                                 Type::int8,
                                 Type::f64,
                                 Type::int64,
                                 Type::uint8,
                                 Type::uint32,
                                 Type::uint64,
                                 Type::f16,
                                 Type::bf16,
                                 Type::complex64,
                                 Type::complex128,
                                 Type::f8e4m3,
                                 Type::f8e5m2};
constexpr std::array plain_ops{ReduceOp::sum,
                               ReduceOp::max,
                               ReduceOp::min,
                               ReduceOp::prod,
                               ReduceOp::avg,
                               ReduceOp::premul_sum};
constexpr std::array plain_inputs{InputKind::coded,
                                  InputKind::exact,
                                  InputKind::general,
                                  InputKind::fine,
                                  InputKind::cancelling,
                                  InputKind::wide_range,
                                  InputKind::special,
                                  InputKind::each_special};
constexpr std::array plain_scans{
    Scan::whole, Scan::scattered, Scan::coincident, Scan::bordering, Scan::overhanging};
constexpr std::array plain_patterns{spec::Pattern::ring, spec::Pattern::pairs, spec::Pattern::self};
constexpr std::array<std::string_view, 3> plain_policies{"in_order", "random", "pct"};

template <class List, class Value>
std::uint64_t place(const List& list, const Value& value) {
  return static_cast<std::uint64_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

/// The two parts of a schedule's text. A text that cannot be parsed is the least plain.
struct Schedule {
  std::uint64_t policy = plain_policies.size();
  std::uint64_t seed = 0;
};

Schedule schedule_of(const Case& c) {
  const std::string_view text = c.schedule;
  const std::size_t colon = std::min(text.find(':'), text.size());
  Schedule schedule{.policy = place(plain_policies, text.substr(0, colon))};
  if (colon == text.size()) return schedule;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data() + colon + 1, end, schedule.seed);
  if (error != std::errc{} || parsed != end) return {};
  return schedule;
}

std::uint64_t out_of_order(const std::vector<int>& group) {
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (std::size_t j = i + 1; j < group.size(); ++j) pairs += group[i] > group[j] ? 1 : 0;
  }
  return pairs;
}

/// Distance from 1.
std::uint64_t distance(int value) {
  return static_cast<std::uint64_t>(std::abs(std::int64_t{value} - 1));
}

/// The numbers that is_simpler compares, in this order.
using Weight = std::array<std::uint64_t, 42>;

Weight weight_of(const Case& c) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  std::int64_t elements = c.count;
  std::int64_t behind = 0;
  for (std::size_t i = 0; i < c.counts.size(); ++i) {
    elements += c.counts[i];
    behind += static_cast<std::int64_t>(i) * c.counts[i];
  }
  const Schedule schedule = schedule_of(c);
  return {number(c.ranks),
          number(c.group.empty() ? 0 : 1),
          number(c.group.size()),
          number(std::accumulate(c.group.begin(), c.group.end(), std::int64_t{0})),
          out_of_order(c.group),
          number(c.root),
          number(elements),
          number(behind),
          number(c.scene.window),
          number(std::int64_t{c.scene.rows} * c.scene.cols),
          number(c.scene.detector),
          number(c.scene.modes),
          number(c.scene.slices),
          number(c.scene.varying_probe),
          number(c.scene.halo),
          number(c.scene.tile_cols),
          number(std::abs(c.scene.distance) * 16) * 2 + (c.scene.distance < 0 ? 1 : 0),
          number(std::abs(c.scene.wavelength - 1) * 16),
          distance(c.moved + 1) * 2 + (c.moved < 0 ? 1 : 0),
          place(plain_scans, c.scan),
          number(c.scene.rows),
          number(c.varied),
          number(c.chained),
          number(c.form),
          number(c.halvings),
          number(c.first_index),
          number(c.index_stride),
          number(c.gap),
          number(c.chunk),
          number(c.offset),
          number(c.in_place),
          place(plain_types, c.type),
          place(plain_ops, c.op),
          place(plain_inputs, c.input),
          schedule.policy,
          schedule.seed,
          place(plain_patterns, c.pattern),
          distance(c.shift) * 2 + (c.shift < 1 ? 1 : 0),
          distance(c.scale) * 2 + (c.scale < 1 ? 1 : 0),
          c.added_seed,
          number(c.rotate),
          c.data_seed};
}

/// Smaller numbers to try, down to `least`: the smallest, the next, then values ever closer to
/// `value`.
template <class Number>
std::vector<Number> smaller(Number value, Number least = 0) {
  std::vector<Number> values;
  if (value <= least) return values;
  values.push_back(least);
  if (value - least > 1) values.push_back(static_cast<Number>(least + 1));
  for (Number step = static_cast<Number>((value - least) / 2); step > 0;
       step = static_cast<Number>(step / 2)) {
    const Number next = static_cast<Number>(value - step);
    if (next > values.back()) values.push_back(next);
  }
  return values;
}

/// Collects the candidates for one case.
class Shrinker {
 public:
  Shrinker(const Catalogue& catalogue, const Case& c, std::vector<Case>& out)
      : catalogue_(catalogue), case_(c), weight_(weight_of(c)), out_(out) {
    const Operation* operation = catalogue.find(c.operation);
    pairs_ = operation != nullptr && operation->contract.sizes == spec::Sizes::counts_per_pair;
  }

  void collect() {
    out_.clear();
    members_fewer();
    group_plainer();
    with(&Case::root, smaller(case_.root));
    with(&Case::count, smaller(case_.count));
    last_element_alone();
    counts_smaller();
    scene_smaller();
    with(&Case::first_index, smaller(case_.first_index));
    with(&Case::index_stride, smaller(case_.index_stride));
    with(&Case::in_place, std::array{false});
    with(&Case::gap, smaller(case_.gap));
    with(&Case::chunk, smaller(case_.chunk));
    with(&Case::offset, smaller(case_.offset));
    schedule_plainer();
    with(&Case::type, plain_types);
    if (case_.op != ReduceOp::none) with(&Case::op, plain_ops);
    with(&Case::input, plain_inputs);
    with(&Case::pattern, plain_patterns);
    with(&Case::shift, std::array{1, 0, 2, -1});
    with(&Case::scale, std::array{1, 2, 0, -1});
    with(&Case::added_seed, smaller(case_.added_seed));
    with(&Case::rotate, smaller(case_.rotate));
    with(&Case::data_seed, smaller(case_.data_seed, std::uint64_t{1}));
    smaller_with_other_data();
  }

 private:
  /// Adds the candidate if it is legal, simpler and new.
  void offer(const Case& candidate) {
    if (!(weight_of(candidate) < weight_)) return;
    if (std::find(out_.begin(), out_.end(), candidate) != out_.end()) return;
    if (why_invalid(catalogue_, candidate).empty()) out_.push_back(candidate);
  }

  template <class Member, class Values>
  void with(Member Case::*member, const Values& values) {
    Case candidate = case_;
    for (const auto value : values) {
      candidate.*member = value;
      offer(candidate);
    }
  }

  [[nodiscard]] static Case in_world_of(int ranks, Case candidate) {
    candidate.ranks = ranks;
    candidate.rotate = std::min(candidate.rotate, ranks - 1);
    return candidate;
  }

  /// The case with only these members (positions in the group, ascending).
  [[nodiscard]] Case keeping(const std::vector<int>& kept) const {
    const int n = group_size(case_);
    Case candidate = case_;
    if (case_.group.empty()) {
      candidate.ranks = static_cast<int>(kept.size());
    } else {
      candidate.group.clear();
      for (const int r : kept) candidate.group.push_back(case_.group[static_cast<std::size_t>(r)]);
    }
    candidate.counts.clear();
    for (std::size_t row = 0; !case_.counts.empty() && row < (pairs_ ? kept.size() : 1); ++row) {
      const int first = pairs_ ? kept[row] * n : 0;
      for (const int r : kept) {
        candidate.counts.push_back(case_.counts[static_cast<std::size_t>(first + r)]);
      }
    }
    const auto root = std::find(kept.begin(), kept.end(), case_.root);
    const auto last = static_cast<int>(kept.size()) - 1;
    candidate.root =
        root != kept.end() ? static_cast<int>(root - kept.begin()) : std::min(case_.root, last);
    return in_world_of(candidate.ranks, std::move(candidate));
  }

  void members_fewer() {
    const int n = group_size(case_);
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    if (!case_.group.empty()) whole_world(all);
    std::vector<int> sizes{1, 2, 3};
    for (const int size : smaller(n)) sizes.push_back(size);
    std::sort(sizes.begin(), sizes.end());
    for (const int size : sizes) {
      if (size > 0 && size < n) offer(keeping({all.begin(), all.begin() + size}));
    }
    for (int r = 0; r < n && n > 1; ++r) {
      std::vector<int> kept = all;
      kept.erase(kept.begin() + r);
      offer(keeping(kept));
    }
  }

  /// Replaces the group by a whole world, as large as the group or as large as the present world.
  void whole_world(const std::vector<int>& all) {
    Case candidate = keeping(all);
    candidate.group.clear();
    offer(in_world_of(static_cast<int>(all.size()), candidate));
    offer(candidate);
  }

  /// The same members in ascending order, at lower ranks, or in a world without the other ranks.
  void group_plainer() {
    if (case_.group.empty()) return;
    std::vector<int> sorted = case_.group;
    std::sort(sorted.begin(), sorted.end());
    Case candidate = case_;
    for (int& member : candidate.group) {
      member = static_cast<int>(place(sorted, member));
    }
    offer(in_world_of(static_cast<int>(sorted.size()), candidate));
    for (int unused = 0; unused < case_.ranks; ++unused) {
      if (place(sorted, unused) == sorted.size()) without_rank(unused);
    }
    offer(candidate);
    candidate.group = sorted;
    offer(candidate);
    for (std::size_t i = 0; i < case_.group.size(); ++i) {
      candidate.group = case_.group;
      for (int lower = 0; lower < case_.group[i]; ++lower) {
        if (place(sorted, lower) < sorted.size()) continue;
        candidate.group[i] = lower;
        offer(candidate);
        break;
      }
      candidate.group = case_.group;
      if (i > 0) std::swap(candidate.group[i - 1], candidate.group[i]);
      offer(candidate);
    }
  }

  void without_rank(int unused) {
    Case candidate = in_world_of(case_.ranks - 1, case_);
    for (int& member : candidate.group) member -= member > unused ? 1 : 0;
    offer(candidate);
  }

  void counts_smaller() {
    if (case_.counts.empty()) return;
    Case candidate = case_;
    auto& counts = candidate.counts;
    for (const std::int64_t value : {0, 1}) {
      counts.assign(counts.size(), value);
      offer(candidate);
    }
    counts.assign(counts.size(), 0);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = 1;
      offer(candidate);
      counts[i] = 0;
    }
    // A failure that depends on the remainder of a sum is lost in most smaller sums.
    constexpr std::int64_t small_sums = 4;
    for (counts[0] = 2; counts[0] <= small_sums; ++counts[0]) offer(candidate);
    counts = case_.counts;
    for (std::int64_t& count : counts) count /= 2;
    offer(candidate);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts = case_.counts;
      for (const std::int64_t value : smaller(case_.counts[i])) {
        counts[i] = value;
        offer(candidate);
      }
    }
    const auto [least, most] = std::minmax_element(case_.counts.begin(), case_.counts.end());
    counts.assign(counts.size(), *least);
    offer(candidate);
    counts.assign(counts.size(), (*most + 1) / 2);
    offer(candidate);
    counts = case_.counts;
    std::sort(counts.rbegin(), counts.rend());
    offer(candidate);
  }

  /// Fewer pixels, modes and slices. The window shrinks alone, or object and detector shrink with
  /// it.
  void scene_smaller() {
    const spec::Scene& scene = case_.scene;
    if (scene == spec::Scene{}) return;
    for (const int window : smaller(scene.window, 1)) {
      for (const bool all : {true, false}) {
        Case candidate = case_;
        const int less = all ? scene.window - window : 0;
        candidate.scene.window = window;
        candidate.scene.rows -= less;
        candidate.scene.cols -= less;
        candidate.scene.detector -= less;
        offer(candidate);
      }
    }
    const auto size = [&](int spec::Scene::*member, int least) {
      for (const int value : smaller(scene.*member, least)) {
        Case candidate = case_;
        candidate.scene.*member = value;
        // A single slice has no free space behind it.
        if (member == &spec::Scene::slices && value == 1) {
          candidate.scene.wavelength = candidate.scene.distance = 0;
        }
        offer(candidate);
      }
    };
    size(&spec::Scene::rows, scene.window);
    size(&spec::Scene::cols, scene.window);
    size(&spec::Scene::detector, scene.window);
    size(&spec::Scene::modes, 1);
    size(&spec::Scene::slices, 1);
    size(&spec::Scene::halo, 0);
    size(&spec::Scene::tile_cols, 1);
    free_space_smaller();
    with(&Case::moved, std::array{0, 1, case_.moved / 2});
    Case candidate = case_;
    candidate.scene.varying_probe = false;
    offer(candidate);
    with(&Case::scan, plain_scans);
  }

  /// The plainest wavelength is one pixel, and the plainest distance is 0.
  void free_space_smaller() {
    for (const double distance : {0.0, 1.0, -case_.scene.distance}) {
      Case candidate = case_;
      candidate.scene.distance = distance;
      offer(candidate);
    }
    Case candidate = case_;
    if (candidate.scene.wavelength > 0) candidate.scene.wavelength = 1;
    offer(candidate);
  }

  /// A failure that only some values show is lost in a smaller case, unless that case gets new
  /// values.
  void smaller_with_other_data() {
    // Enough seeds to meet a NaN: one special value in 16 is a NaN.
    constexpr std::uint64_t seeds = 32;
    std::vector<Case> sizes;
    const int n = group_size(case_);
    for (const int size : {2, n / 2, n - 1}) {
      std::vector<int> kept(static_cast<std::size_t>(std::clamp(size, 1, n)));
      std::iota(kept.begin(), kept.end(), 0);
      sizes.push_back(keeping(kept));
      // The last ranks may be the only ranks with elements.
      std::iota(kept.begin(), kept.end(), n - static_cast<int>(kept.size()));
      sizes.push_back(keeping(kept));
    }
    std::int64_t largest = case_.count;
    for (const std::int64_t count : case_.counts) largest = std::max(largest, count);
    for (const std::int64_t most : {std::int64_t{1}, std::int64_t{2}, largest / 2}) {
      Case& candidate = sizes.emplace_back(case_);
      candidate.count = std::min(candidate.count, most);
      for (std::int64_t& count : candidate.counts) count = std::min(count, most);
    }
    for (Case& candidate : sizes) {
      for (candidate.data_seed = 1; candidate.data_seed <= seeds; ++candidate.data_seed) {
        offer(candidate);
      }
      // Coded values have few bits. Wrong rounding shows sooner in full significands.
      candidate.input = InputKind::general;
      offer(candidate);
    }
  }

  /// With the fewest elements that fail, often only the last element fails, because of its value.
  void last_element_alone() {
    Case candidate = case_;
    candidate.first_index += std::max<std::int64_t>(case_.count - 1, 0);
    candidate.count = 1;
    offer(candidate);
  }

  void schedule_plainer() {
    const Schedule schedule = schedule_of(case_);
    Case candidate = case_;
    candidate.schedule = plain_policies[0];
    offer(candidate);
    if (schedule.policy == 0 || schedule.policy >= plain_policies.size()) return;
    for (std::size_t policy = 1; policy <= schedule.policy; ++policy) {
      auto seeds = smaller(schedule.seed, std::uint64_t{1});
      if (policy < schedule.policy) seeds.push_back(schedule.seed);
      for (const std::uint64_t seed : seeds) {
        candidate.schedule = std::string(plain_policies[policy]) + ":" + std::to_string(seed);
        offer(candidate);
      }
    }
  }

  const Catalogue& catalogue_;
  const Case& case_;
  const Weight weight_;
  std::vector<Case>& out_;
  bool pairs_ = false;
};

}  // namespace

bool is_simpler(const Case& a, const Case& b) {
  return weight_of(a) < weight_of(b);
}

void shrinks(const Catalogue& catalogue, const Case& c, std::vector<Case>& out) {
  Shrinker(catalogue, c, out).collect();
}

}  // namespace rankcheck::harness
