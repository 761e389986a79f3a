#include "harness/search/shrink.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "harness/base/hash.hpp"
#include "harness/base/weights.hpp"
#include "harness/case/family.hpp"
#include "harness/case/hosts.hpp"

namespace rankcheck::harness {

namespace {

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
constexpr std::array plain_inputs{InputKind::coded,
                                  InputKind::exact,
                                  InputKind::general,
                                  InputKind::fine,
                                  InputKind::cancelling,
                                  InputKind::wide_range,
                                  InputKind::edge,
                                  InputKind::special,
                                  InputKind::each_special};
constexpr std::array<std::string_view, 3> plain_policies{"in_order", "random", "pct"};

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

/// Works for the members of a group and for the hosts of ranks.
std::uint64_t out_of_order(const std::vector<int>& ranks) {
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t j = i + 1; j < ranks.size(); ++j) pairs += ranks[i] > ranks[j] ? 1 : 0;
  }
  return pairs;
}

/// The fields of a family at a place, in the order in which they are shrunk.
std::vector<const FamilyField*> fields_at(const Family& family, ShrinkPlace place) {
  std::vector<const FamilyField*> found;
  for (const FamilyField& each : family.fields()) {
    if (each.place == place) found.push_back(&each);
  }
  std::ranges::sort(found, [](const auto* a, const auto* b) { return a->order < b->order; });
  return found;
}

/// A family's fields at all places.
class ShrinkOrder {
 public:
  explicit ShrinkOrder(const Family& family) : plainest_(family.plainest()) {
    for (std::size_t p = 0; p < places_.size(); ++p) {
      places_[p] = fields_at(family, static_cast<ShrinkPlace>(p));
    }
  }

  [[nodiscard]] const std::vector<const FamilyField*>& at(ShrinkPlace place) const {
    return places_[spec::to_size(place)];
  }
  [[nodiscard]] bool is_plainest(const Case& c) const { return c.operation == plainest_; }

 private:
  std::string_view plainest_;
  std::array<std::vector<const FamilyField*>, 4> places_;
};

/// The numbers that is_simpler compares, in this order.
using Weight = std::vector<std::uint64_t>;

Weight weight_of(const ShrinkOrder& order, const Case& c) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  std::int64_t elements = c.count;
  std::int64_t behind = 0;
  for (std::size_t i = 0; i < c.counts.size(); ++i) {
    elements += c.counts[i];
    behind += static_cast<std::int64_t>(i) * c.counts[i];
  }
  const Schedule schedule = schedule_of(c);
  Weight weight;
  weight.reserve(48);
  const auto add = [&](std::initializer_list<std::uint64_t> numbers) {
    weight.insert(weight.end(), numbers);
  };
  const auto add_family = [&](ShrinkPlace place) {
    for (const FamilyField* const each : order.at(place)) {
      if (each->weight != nullptr) weight.push_back(each->weight(c));
    }
  };
  add({number(c.earlier.size()),
       number(order.is_plainest(c) ? 0 : 1),
       number(c.ranks),
       number(c.group.empty() ? 0 : 1),
       number(c.group.size()),
       number(std::accumulate(c.group.begin(), c.group.end(), std::int64_t{0})),
       out_of_order(c.group)});
  add({number(c.hosts.empty() ? 0 : *std::ranges::max_element(c.hosts)), out_of_order(c.hosts)});
  add_family(ShrinkPlace::behind_group);
  add({number(elements), number(behind), number(c.counts.size())});
  add_family(ShrinkPlace::behind_counts);
  add({number(c.chunk),
       number(c.offset),
       number(c.in_place),
       number(c.pending),
       number(c.late + 1),
       number(c.overlaps),
       number(c.frees)});
  add({place(plain_types, c.type)});
  add_family(ShrinkPlace::behind_type);
  add({place(plain_inputs, c.input), schedule.policy, schedule.seed});
  add_family(ShrinkPlace::behind_schedule);
  add({distance_from(1, c.scale), c.added_seed, number(c.rotate), c.data_seed});
  // Earlier calls are of the same family, so that all calls have as many numbers.
  for (const Case& call : c.earlier) {
    const Weight of_call = weight_of(order, call);
    weight.insert(weight.end(), of_call.begin(), of_call.end());
  }
  return weight;
}

/// Collects the candidates for one case.
class Shrinker {
 public:
  Shrinker(const Catalogue& catalogue,
           const Operation& operation,
           const Case& c,
           std::vector<Case>& out)
      : catalogue_(catalogue),
        contract_(operation.contract),
        family_(family_of(operation.contract)),
        order_(family_),
        case_(c),
        weight_(weight_of(order_, c)),
        out_(out) {}

  void collect() {
    earlier_fewer();
    members_fewer();
    group_plainer();
    hosts_fewer();
    family_fields(ShrinkPlace::behind_group);
    with(&Case::count, smaller(case_.count));
    counts_smaller();
    family_fields(ShrinkPlace::behind_counts);
    with(&Case::in_place, std::array{false});
    with(&Case::pending, std::array{false});
    with(&Case::late, smaller(case_.late, -1));
    with(&Case::chunk, smaller(case_.chunk));
    with(&Case::offset, smaller(case_.offset));
    schedule_plainer();
    with(&Case::type, plain_types);
    family_fields(ShrinkPlace::behind_type);
    with(&Case::input, plain_inputs);
    family_fields(ShrinkPlace::behind_schedule);
    with(&Case::scale, std::array{1, 2, 0, -1});
    with(&Case::added_seed, smaller(case_.added_seed));
    with(&Case::rotate, smaller(case_.rotate));
    with(&Case::data_seed, smaller(case_.data_seed, std::uint64_t{1}));
    earlier_simpler();
    smaller_with_other_data();
  }

 private:
  /// Adds the candidate if it is legal, simpler and new.
  void offer(Case candidate) {
    family_.settle(contract_, candidate);
    for (Case& call : candidate.earlier) call.hosts = candidate.hosts;
    const Weight weight = weight_of(order_, candidate);
    if (!(weight < weight_)) return;
    const auto* const bytes = reinterpret_cast<const char*>(weight.data());
    const std::uint64_t hash = hash_of({bytes, weight.size() * sizeof weight[0]});
    const auto [first, end] = places_.equal_range(hash);
    const bool is_there =
        std::any_of(first, end, [&](const auto& each) { return out_[each.second] == candidate; });
    if (is_there || !why_invalid(catalogue_, candidate).empty()) return;
    places_.emplace(hash, out_.size());
    out_.push_back(std::move(candidate));
  }

  void family_fields(ShrinkPlace place) {
    std::vector<Case> candidates;
    for (const FamilyField* const each : order_.at(place)) {
      if (each->candidates != nullptr) each->candidates(case_, candidates);
    }
    for (const Case& candidate : candidates) offer(candidate);
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
    if (static_cast<int>(candidate.hosts.size()) > ranks) {
      candidate.hosts.resize(spec::to_size(ranks));
      candidate.hosts = numbered(candidate.hosts);
    }
    candidate.rotate = std::min(candidate.rotate, ranks - 1);
    return candidate;
  }

  /// Gives the earlier calls the world of these ranks alone, which get new numbers in this order. A
  /// call without a member among them is left out.
  void move_earlier(const std::vector<int>& kept, Case& candidate) const {
    candidate.earlier.clear();
    for (const Case& call : case_.earlier) {
      Case& moved = candidate.earlier.emplace_back(call);
      moved.group.clear();
      std::vector<int> places;
      const std::vector<int> all = members(call);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t rank = place(kept, all[i]);
        if (rank == kept.size()) continue;
        places.push_back(static_cast<int>(i));
        moved.group.push_back(static_cast<int>(rank));
      }
      if (places.empty()) {
        candidate.earlier.pop_back();
        continue;
      }
      const std::size_t late = place(places, call.late);
      moved.late = late == places.size() ? -1 : static_cast<int>(late);
      moved.ranks = static_cast<int>(kept.size());
      moved.rotate = std::min(call.rotate, moved.ranks - 1);
      if (places.size() == kept.size() && std::ranges::is_sorted(moved.group)) moved.group.clear();
      const spec::Contract& contract = catalogue_.find(call.operation)->contract;
      family_.keep_members(contract, call, places, moved);
      family_.settle(contract, moved);
    }
  }

  /// Drops all earlier calls, half of them, a quarter, and so on, or one.
  void earlier_fewer() {
    const auto n = std::ssize(case_.earlier);
    for (std::ptrdiff_t dropped = n; dropped > 0; dropped /= 2) {
      for (std::ptrdiff_t first = 0; first < n; first += dropped) {
        Case candidate = case_;
        const auto begin = candidate.earlier.begin() + first;
        candidate.earlier.erase(begin, begin + std::min(dropped, n - first));
        offer(std::move(candidate));
      }
    }
  }

  /// Makes single calls simpler. If there are many, most are dropped first, because each candidate
  /// is a copy of them all.
  void earlier_simpler() {
    constexpr std::size_t simplified_max = 16;
    if (case_.earlier.size() > simplified_max) return;
    std::vector<Case> candidates;
    for (std::size_t k = 0; k < case_.earlier.size(); ++k) {
      Case call = case_.earlier[k];
      const bool overlaps = std::exchange(call.overlaps, false);
      const bool frees = std::exchange(call.frees, false);
      if (overlaps || frees) {
        Case candidate = case_;
        candidate.earlier[k].overlaps = candidate.earlier[k].frees = false;
        offer(std::move(candidate));
      }
      if (!order_.is_plainest(call)) {
        Case candidate = case_;
        family_.make_plainest(candidate.earlier[k]);
        offer(std::move(candidate));
      }
      call.property = catalogue_.find(call.operation)->properties.front().name;
      shrinks(catalogue_, call, candidates);
      for (Case& simpler : candidates) {
        if (simpler.ranks != case_.ranks || simpler.hosts != case_.hosts) continue;
        simpler.property = Case().property;
        simpler.overlaps = overlaps;
        simpler.frees = frees;
        Case candidate = case_;
        candidate.earlier[k] = std::move(simpler);
        offer(std::move(candidate));
      }
    }
  }

  /// The case with only these members (positions in the group, ascending).
  [[nodiscard]] Case keeping(const std::vector<int>& kept) const {
    Case candidate = case_;
    if (case_.group.empty()) {
      candidate.ranks = static_cast<int>(kept.size());
      move_earlier(kept, candidate);
      if (!case_.hosts.empty()) {
        candidate.hosts.clear();
        for (const int r : kept) candidate.hosts.push_back(case_.hosts[spec::to_size(r)]);
        candidate.hosts = numbered(candidate.hosts);
      }
    } else {
      candidate.group.clear();
      for (const int r : kept) candidate.group.push_back(case_.group[spec::to_size(r)]);
    }
    const auto late = std::ranges::find(kept, case_.late);
    candidate.late = late == kept.end() ? -1 : static_cast<int>(late - kept.begin());
    family_.keep_members(contract_, case_, kept, candidate);
    const int ranks = candidate.ranks;
    return in_world_of(ranks, std::move(candidate));
  }

  void members_fewer() {
    const int n = group_size(case_);
    std::vector<int> all(spec::to_size(n));
    std::iota(all.begin(), all.end(), 0);
    if (!case_.group.empty()) whole_world(all);
    std::vector<int> sizes{1, 2, 3};
    for (const int size : smaller(n)) sizes.push_back(size);
    std::ranges::sort(sizes);
    for (const int size : sizes) {
      if (size > 0 && size < n) offer(keeping({all.begin(), all.begin() + size}));
    }
    for (int r = 0; r < n && n > 1; ++r) {
      std::vector<int> kept = all;
      kept.erase(kept.begin() + r);
      Case candidate = keeping(kept);
      offer(candidate);
      const bool has_parts =
          case_.counts.size() == all.size() && candidate.counts.size() == kept.size();
      if (!has_parts || case_.counts[spec::to_size(r)] > 0) continue;
      // A failure may depend on how the elements of all parts divide among the members.
      std::int64_t& most = *std::ranges::max_element(candidate.counts);
      most = std::max<std::int64_t>(most - 1, 0);
      offer(std::move(candidate));
    }
  }

  /// Replaces the group by a whole world, as large as the group or as large as the present world.
  void whole_world(const std::vector<int>& all) {
    Case candidate = keeping(all);
    candidate.group.clear();
    Case alone = candidate;
    move_earlier(case_.group, alone);
    const int ranks = static_cast<int>(all.size());
    if (!case_.hosts.empty()) {
      // The members stay on their hosts, though they get other ranks.
      Case on_hosts = in_world_of(ranks, alone);
      on_hosts.hosts = numbered(hosts_of_members(case_));
      offer(on_hosts);
    }
    offer(in_world_of(ranks, alone));
    offer(candidate);
  }

  /// The same members in ascending order, at lower ranks, or in a world without the other ranks.
  void group_plainer() {
    if (case_.group.empty()) return;
    std::vector<int> sorted = case_.group;
    std::ranges::sort(sorted);
    Case candidate = case_;
    for (int& member : candidate.group) {
      member = static_cast<int>(place(sorted, member));
    }
    Case alone = candidate;
    move_earlier(sorted, alone);
    offer(in_world_of(static_cast<int>(sorted.size()), alone));
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

  /// One host for all ranks, one host fewer, or the ranks of each host one behind another.
  void hosts_fewer() {
    if (case_.hosts.empty()) return;
    Case candidate = case_;
    candidate.hosts.clear();
    offer(candidate);
    const int last = *std::ranges::max_element(case_.hosts);
    for (int host = 0; host < last; ++host) {
      candidate.hosts = case_.hosts;
      std::ranges::replace(candidate.hosts, last, host);
      offer(candidate);
    }
    candidate.hosts = case_.hosts;
    std::ranges::sort(candidate.hosts);
    offer(candidate);
  }

  void without_rank(int unused) {
    Case made = case_;
    if (!made.hosts.empty()) {
      made.hosts.erase(made.hosts.begin() + unused);
      made.hosts = numbered(made.hosts);
    }
    Case candidate = in_world_of(case_.ranks - 1, std::move(made));
    for (int& member : candidate.group) member -= member > unused ? 1 : 0;
    std::vector<int> kept(spec::to_size(case_.ranks));
    std::iota(kept.begin(), kept.end(), 0);
    kept.erase(kept.begin() + unused);
    move_earlier(kept, candidate);
    offer(candidate);
  }

  void counts_smaller() {
    if (case_.counts.empty()) return;
    Case candidate = case_;
    auto& counts = candidate.counts;
    // Where the number of counts is free.
    counts.clear();
    offer(candidate);
    for (const std::int64_t count : case_.counts) {
      counts.assign(1, count);
      offer(candidate);
    }
    for (std::size_t i = 0; i < case_.counts.size(); ++i) {
      counts = case_.counts;
      counts.erase(counts.begin() + static_cast<std::ptrdiff_t>(i));
      offer(candidate);
    }
    counts = case_.counts;
    for (const std::int64_t value : {0, 1}) {
      counts.assign(counts.size(), value);
      offer(candidate);
    }
    counts.assign(counts.size(), 0);
    for (std::int64_t& count : counts) {
      count = 1;
      offer(candidate);
      count = 0;
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
    const auto [least, most] = std::ranges::minmax_element(case_.counts);
    counts.assign(counts.size(), *least);
    offer(candidate);
    counts.assign(counts.size(), (*most + 1) / 2);
    offer(candidate);
    counts = case_.counts;
    std::sort(counts.rbegin(), counts.rend());
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
      std::vector<int> kept(spec::to_size(std::clamp(size, 1, n)));
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
  const spec::Contract& contract_;
  const Family& family_;
  const ShrinkOrder order_;
  const Case& case_;
  const Weight weight_;
  std::vector<Case>& out_;
  /// The places of the candidates in out_, by the hash of their weights.
  std::unordered_multimap<std::uint64_t, std::size_t> places_;
};

}  // namespace

bool is_simpler(const Case& a, const Case& b) {
  const Family* const family = find_family(a.operation);
  if (family == nullptr || find_family(b.operation) != family) return false;
  const ShrinkOrder order(*family);
  return weight_of(order, a) < weight_of(order, b);
}

void shrinks(const Catalogue& catalogue, const Case& c, std::vector<Case>& out) {
  out.clear();
  const Operation* const operation = catalogue.find(c.operation);
  if (operation != nullptr) Shrinker(catalogue, *operation, c, out).collect();
}

}  // namespace rankcheck::harness
