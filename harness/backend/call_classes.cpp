#include "harness/backend/call_classes.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "harness/case/family.hpp"

namespace rankcheck::harness {

namespace {

using Needs = CallClass::Needs;

/// A way to make a call, independent of the family, the type and the number of ranks.
struct Site {
  std::string_view name;
  bool (*has)(const Case& c) = nullptr;
  Needs needs = Needs::nothing;
};

constexpr std::array sites{
    Site{"one_rank", [](const Case& c) { return group_size(c) == 1; }},
    Site{"sub_group",
         [](const Case& c) {
           return !c.group.empty() && static_cast<int>(c.group.size()) < c.ranks;
         }},
    Site{"reordered_group", [](const Case& c) { return !std::ranges::is_sorted(c.group); }},
    Site{"in_place", [](const Case& c) { return c.in_place; }, Needs::data},
    Site{"offset", [](const Case& c) { return c.offset != 0; }, Needs::data},
    Site{"chunked", [](const Case& c) { return c.chunk > 0 && c.chunk < longest(c); }, Needs::data},
    Site{"empty_part",
         [](const Case& c) { return std::ranges::count(c.counts, 0) > 0 && longest(c) > 0; },
         Needs::data},
    Site{"zero_count", [](const Case& c) { return longest(c) == 0; }, Needs::no_data},
    Site{"pending", [](const Case& c) { return c.pending; }, Needs::streams},
    Site{"in_order", [](const Case& c) { return c.schedule == "in_order"; }, Needs::schedules},
    Site{"random",
         [](const Case& c) { return c.schedule.starts_with("random:"); },
         Needs::schedules},
    Site{"pct", [](const Case& c) { return c.schedule.starts_with("pct:"); }, Needs::schedules},
};

bool may_occur(const CallClass& site, const spec::Contract& contract, const BackendTraits& traits) {
  switch (site.needs) {
    case Needs::nothing:
      return true;
    case Needs::data:
    case Needs::no_data:
    case Needs::size:
      return contract.has_buffers;
    case Needs::schedules:
      return traits.has_schedules;
    case Needs::streams:
      return traits.has_streams && contract.has_buffers;
    case Needs::strides:
      return traits.has_strides && contract.has_buffers;
    case Needs::hosts:
      return traits.draws_hosts;
    case Needs::delays:
      return traits.has_delays;
    case Needs::arrivals:
      return traits.has_arrivals && !traits.has_streams && contract.has_buffers;
  }
  return false;
}

}  // namespace

std::vector<CallClass> call_classes(const spec::Contract& contract,
                                    const BackendTraits& traits,
                                    int ranks_min,
                                    int ranks_max) {
  const std::vector<CallClass> own = family_of(contract).call_classes(contract);
  std::vector<CallClass> all;
  const auto add_own = [&](std::string_view before) {
    for (const CallClass& each : own) {
      if (each.before == before) all.push_back(each);
    }
  };
  for (const Site& each : sites) {
    add_own(each.name);
    all.push_back({.name = std::string(site_prefix) + std::string(each.name),
                   .has = each.has,
                   .needs = each.needs});
  }
  for (int ranks = ranks_min; ranks <= std::min(ranks_max, counted_ranks_max); ++ranks) {
    all.push_back({.name = "ranks/" + std::to_string(ranks),
                   .has = [ranks](const Case& c) { return group_size(c) == ranks; },
                   .ranks = ranks});
  }
  add_own({});
  std::erase_if(all, [&](const CallClass& each) { return !may_occur(each, contract, traits); });
  return all;
}

}  // namespace rankcheck::harness
