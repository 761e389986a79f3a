#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>

#include "reference/spec/to_size.hpp"

#include "harness/base/hash.hpp"
#include "harness/base/shuffle.hpp"
#include "harness/case/case_field.hpp"
#include "harness/case/fields.hpp"
#include "harness/case/hosts.hpp"
#include "harness/case/image.hpp"
#include "harness/search/generator.hpp"

/// How the generator draws one case: it fills in what the contract leaves open, feature by feature.
/// The family draws its own fields.
namespace rankcheck::harness {

namespace {

/// One case in so many is large.
constexpr std::int64_t large_every = 160;
/// One case in so many is spread over several hosts.
constexpr std::int64_t hosts_every = 8;

/// The most earlier calls of a case that is drawn.
constexpr std::int64_t drawn_max = 15;

/// Returns the case of its first members alone.
Case with_first_members(const Family& family,
                        const spec::Contract& contract,
                        const Case& c,
                        int members) {
  if (members == group_size(c)) return c;
  std::vector<int> kept(spec::to_size(members));
  std::iota(kept.begin(), kept.end(), 0);
  Case out = c;
  if (c.group.empty()) {
    out.ranks = members;
  } else {
    out.group.resize(kept.size());
  }
  out.late = std::min(c.late, members - 1);
  family.keep_members(contract, c, kept, out);
  return out;
}

}  // namespace

void Generator::draw_case(const Drawing& drawing, Case& out) const {
  RandomSource& random = drawing.random;
  out = base_;
  out.ranks = drawing.ranks > 0 ? drawing.ranks : draw_ranks(random);
  if (drawing.ranks == 0 && drawing.enabled(Feature::group)) draw_group(random, out);
  family_.draw(operation_.contract, drawing, out);
  draw_site(drawing, out);
  out.data_seed = static_cast<std::uint64_t>(random.between(1, 99999));
}

void Generator::enlarge_some(Case& c) const {
  // While the generator finds out what the backend takes, nothing has been drawn.
  if (drawn_ == 0 || fixed_.contains("count")) return;
  RandomSource random(mix(mix(seed_, drawn_), hash_of("large")));
  if (random.below(large_every) != 0) return;
  for (std::size_t k = draw_stratum(random) + 1; k > 0; --k) {
    if (enlarge(random, strata[k - 1], c)) return;
  }
}

bool Generator::enlarge(RandomSource& random, const Stratum& stratum, Case& c) const {
  const spec::Contract& contract = operation_.contract;
  const int n = group_size(c);
  const int least = std::min(n, c.group.empty() ? std::max(2, ranks_min_) : 2);
  for (int members = n; members >= least; --members) {
    Case large = with_first_members(family_, contract, c, members);
    if (!family_.enlarge(contract, random, stratum.bytes, large)) return false;
    // A pipeline of large blocks gets few chunks, and the last one is shorter than the others.
    if (large.chunk > 0) large.chunk = longest(large) / random.between(2, 5) + 1;
    if (bytes_of_images(contract, large) > stratum.images_max) continue;
    c = large;
    return true;
  }
  return false;
}

void Generator::strive(const CallClass& goal, RandomSource& random, Case& c) const {
  const bool draws_hosts = hosts_.empty() && !fixed_.contains("hosts");
  if (goal.needs == CallClass::Needs::hosts) {
    c.hosts = draws_hosts && c.ranks > 1 ? draw_hosts(random, c.ranks) : hosts_;
  }
  if (goal.needs == CallClass::Needs::size && !fixed_.contains("count")) {
    // The smallest limits take the least time.
    const auto wanted = std::ranges::find(strata, goal.bytes, &Stratum::bytes);
    enlarge(random, goal.bytes > 0 ? *wanted : strata[spec::to_size(random.below(2))], c);
  }
}

void Generator::spread_over_hosts(Case& c) const {
  if (!hosts_.empty()) c.hosts = hosts_;
  // A goal may have given hosts to the case already.
  if (!c.hosts.empty()) return;
  // While the generator finds out what the backend takes, nothing has been drawn.
  if (drawn_ == 0 || !hosts_.empty() || !backend_.traits().draws_hosts || c.ranks < 2) return;
  if (fixed_.contains("hosts")) return;
  RandomSource random(mix(mix(seed_, drawn_), hash_of("hosts")));
  if (random.below(hosts_every) == 0) c.hosts = draw_hosts(random, c.ranks);
}

void Generator::draw_earlier(int size, Case& c) {
  c.earlier.clear();
  // While the generator finds out what the backend takes, nothing has been drawn.
  if (!property_.has_earlier || drawn_ == 0 || fixed_.contains("earlier")) return;
  RandomSource random(mix(mix(seed_, drawn_), hash_of("earlier")));
  const std::int64_t calls =
      random.below(8) == 0 ? random.between(4, drawn_max) : random.between(1, 3);
  // Some cases free communicators, and in the others calls overlap.
  const bool frees = backend_.traits().frees_groups && random.below(4) == 0;
  const Case own = c;
  for (std::int64_t k = 0; k < calls; ++k) {
    Case call = c.earlier.empty() ? own : c.earlier.back();
    // Every fourth call has the shape of the one before it, or of the last one.
    if (random.below(4) == 0) {
      if (random.below(2) == 0) call = own;
      call.data_seed = static_cast<std::uint64_t>(random.between(1, 99999));
    } else if (Case drawn; source_of_earlier(random).next(random.next(), size, drawn)) {
      call = in_world_of(c, random, drawn);
    }
    call.property = Case().property;
    // The case's own schedule is that of all calls.
    call.schedule = Case().schedule;
    call.overlaps = backend_.traits().has_overlaps && !frees && random.below(2) == 0;
    call.frees = backend_.traits().frees_groups && frees && random.below(2) == 0;
    bool is_taken = backend_.why_refused(call).empty();
    if (!is_taken && (call.overlaps || call.frees)) {
      call.overlaps = call.frees = false;
      is_taken = backend_.why_refused(call).empty();
    }
    if (is_taken) c.earlier.push_back(std::move(call));
  }
}

Case Generator::in_world_of(const Case& c, RandomSource& random, const Case& call) const {
  const spec::Contract& contract = catalogue_.find(call.operation)->contract;
  const int members = std::min(group_size(call), c.ranks);
  Case out = with_first_members(family_of(contract), contract, call, members);
  std::vector<int> world(spec::to_size(c.ranks));
  std::iota(world.begin(), world.end(), 0);
  if (members < c.ranks) {
    shuffle(random, world);
    world.resize(spec::to_size(members));
    if (random.chance(192)) std::ranges::sort(world);
    out.group = world;
  } else if (!out.group.empty()) {
    shuffle(random, world);
    out.group = world;
  }
  out.ranks = c.ranks;
  out.hosts = c.hosts;
  out.rotate = 0;
  return out;
}

Generator& Generator::source_of_earlier(RandomSource& random) {
  if (earlier_.empty()) {
    earlier_[base_.operation];
    for (const AlgorithmInfo& each : backend_.algorithms()) {
      if (find_family(each.operation) == &family_) earlier_[each.operation];
    }
  }
  auto& [operation, source] = *std::next(earlier_.begin(), random.below(std::ssize(earlier_)));
  if (source) return *source;
  // The algorithm is left open: another one may need processes that are started in another way.
  Unit unit;
  unit.operation = operation;
  unit.backend = base_.backend;
  unit.property = catalogue_.find(unit.operation)->properties.front().name;
  unit.ranks_max = ranks_max_;
  source = std::make_unique<Generator>(catalogue_, backend_, unit, mix(seed_, hash_of(operation)));
  return *source;
}

void Generator::vary_manner(Case& c) const {
  // While the generator finds out what the backend takes, nothing has been drawn.
  if (drawn_ > 0) {
    RandomSource random(mix(mix(seed_, drawn_), hash_of("time")));
    family_.draw_manner(operation_.contract, random, backend_.traits(), c);
  }
  Fields fixed(fixed_);
  for (const auto& [name, value] : fixed_.items()) find_field(name, &family_)->read(name, fixed, c);
}

void Generator::make_huge(Case& c) const {
  family_.simplify(c);
  family_.make_dense(c);
  c.group.clear();
  c.chunk = 0;
  c.offset = 0;
  c.schedule = Case().schedule;
  c.pending = false;
  c.late = Case().late;
  // Both buffers in one take the least memory.
  c.in_place = operation_.contract.in_place != spec::InPlace::none;
  c.count = count_;
}

int Generator::draw_ranks(RandomSource& random) const {
  std::int64_t ranks = 0;
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      ranks = random.between(1, 3);
      break;
    case 3:
      ranks = random.power_and_neighbours(ranks_max_);
      break;
    case 4:
      ranks = ranks_max_;
      break;
    default:
      ranks = random.between(ranks_min_, ranks_max_);
  }
  return static_cast<int>(std::clamp<std::int64_t>(ranks, ranks_min_, ranks_max_));
}

void Generator::draw_group(RandomSource& random, Case& out) const {
  out.group.resize(spec::to_size(out.ranks));
  std::iota(out.group.begin(), out.group.end(), 0);
  shuffle(random, out.group);
  switch (random.below(4)) {
    case 0:
      out.group.resize(1);
      break;
    case 1:
      break;
    default:
      out.group.resize(spec::to_size(random.between(1, out.ranks)));
      if (random.chance(128)) std::ranges::sort(out.group);
  }
  const bool whole = static_cast<int>(out.group.size()) == out.ranks;
  if (whole && std::ranges::is_sorted(out.group)) out.group.clear();
}

void Generator::draw_site(const Drawing& drawing, Case& out) const {
  RandomSource& random = drawing.random;
  if (operation_.contract.in_place != spec::InPlace::none) {
    out.in_place = drawing.enabled(Feature::in_place);
  }
  if (drawing.enabled(Feature::offset)) out.offset = random.between(1, 15);
  if (in_chunks_ && drawing.enabled(Feature::chunk)) out.chunk = random.log_between(1, 8);
  if (backend_.traits().has_schedules && drawing.enabled(Feature::schedule)) {
    out.schedule = random.chance(128) ? "random:" : "pct:";
    out.schedule += std::to_string(random.between(1, 999));
  }
  if (backend_.traits().has_streams && operation_.contract.has_buffers) {
    out.pending = random.chance(64);
  }
}

}  // namespace rankcheck::harness
