#include "harness/site_class.hpp"

#include <algorithm>
#include <array>

namespace rankcheck::harness {

namespace {

using Needs = SiteClass::Needs;

constexpr std::string_view prefix = "site/";

std::int64_t longest(const Case& c) {
  return c.counts.empty() ? c.count : *std::max_element(c.counts.begin(), c.counts.end());
}

bool has_empty_part(const Case& c) {
  return std::find(c.counts.begin(), c.counts.end(), 0) != c.counts.end();
}

constexpr std::array classes{
    SiteClass{"one_rank", [](const Case& c) { return group_size(c) == 1; }},
    SiteClass{"sub_group",
              [](const Case& c) {
                return !c.group.empty() && static_cast<int>(c.group.size()) < c.ranks;
              }},
    SiteClass{"reordered_group",
              [](const Case& c) { return !std::is_sorted(c.group.begin(), c.group.end()); }},
    SiteClass{"other_root", [](const Case& c) { return c.root != 0; }},
    SiteClass{"in_place", [](const Case& c) { return c.in_place; }, Needs::data},
    SiteClass{"offset", [](const Case& c) { return c.offset != 0; }, Needs::data},
    SiteClass{"gap", [](const Case& c) { return c.gap != 0; }, Needs::data},
    SiteClass{
        "chunked", [](const Case& c) { return c.chunk > 0 && c.chunk < longest(c); }, Needs::data},
    SiteClass{"empty_part",
              [](const Case& c) { return has_empty_part(c) && longest(c) > 0; },
              Needs::data},
    SiteClass{"zero_count", [](const Case& c) { return longest(c) == 0; }, Needs::no_data},
    SiteClass{"in_order", [](const Case& c) { return c.schedule == "in_order"; }, Needs::schedules},
    SiteClass{"random",
              [](const Case& c) { return c.schedule.starts_with("random:"); },
              Needs::schedules},
    SiteClass{
        "pct", [](const Case& c) { return c.schedule.starts_with("pct:"); }, Needs::schedules},
};

}  // namespace

std::string SiteClass::cell() const {
  return std::string(prefix) + std::string(name);
}

std::span<const SiteClass> site_classes() {
  return classes;
}

bool is_site(std::string_view cell) {
  return cell.starts_with(prefix);
}

bool may_occur(const SiteClass& site, const spec::Contract& contract, const BackendTraits& traits) {
  switch (site.needs) {
    case Needs::nothing:
      return true;
    case Needs::data:
    case Needs::no_data:
      return contract.sizes != spec::Sizes::none;
    case Needs::schedules:
      return traits.has_schedules;
  }
  return false;
}

}  // namespace rankcheck::harness
