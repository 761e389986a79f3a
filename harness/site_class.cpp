#include "harness/site_class.hpp"

#include <algorithm>
#include <array>

#include "harness/input.hpp"
#include "harness/scene_input.hpp"

namespace rankcheck::harness {

namespace {

using Needs = SiteClass::Needs;

std::int64_t longest(const Case& c) {
  return c.counts.empty() ? c.count : *std::max_element(c.counts.begin(), c.counts.end());
}

bool has_empty_part(const Case& c) {
  return std::find(c.counts.begin(), c.counts.end(), 0) != c.counts.end();
}

bool has_large_scene(const Case& c) {
  return c.scene.cols > large_cols || c.scene.detector > large_detector ||
         longest(c) > large_positions;
}

/// A way to make a call, independent of the type, the op and the number of ranks.
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
    Site{"reordered_group",
         [](const Case& c) { return !std::is_sorted(c.group.begin(), c.group.end()); }},
    Site{"other_root", [](const Case& c) { return c.root != 0; }},
    Site{"in_place", [](const Case& c) { return c.in_place; }, Needs::data},
    Site{"offset", [](const Case& c) { return c.offset != 0; }, Needs::data},
    Site{"gap", [](const Case& c) { return c.gap != 0; }, Needs::data},
    Site{"chunked", [](const Case& c) { return c.chunk > 0 && c.chunk < longest(c); }, Needs::data},
    Site{"empty_part",
         [](const Case& c) { return has_empty_part(c) && longest(c) > 0; },
         Needs::data},
    Site{"zero_count", [](const Case& c) { return longest(c) == 0; }, Needs::no_data},
    Site{"large_scene", has_large_scene, Needs::scene},
    Site{"in_order", [](const Case& c) { return c.schedule == "in_order"; }, Needs::schedules},
    Site{"random",
         [](const Case& c) { return c.schedule.starts_with("random:"); },
         Needs::schedules},
    Site{"pct", [](const Case& c) { return c.schedule.starts_with("pct:"); }, Needs::schedules},
};

bool may_occur(const SiteClass& site, const spec::Contract& contract, const BackendTraits& traits) {
  switch (site.needs) {
    case Needs::nothing:
      return true;
    case Needs::data:
    case Needs::no_data:
      return contract.sizes != spec::Sizes::none;
    case Needs::scene:
      return contract.sizes == spec::Sizes::scene && !contract.tiled;
    case Needs::schedules:
      return traits.has_schedules;
  }
  return false;
}

SiteClass with_ranks(int ranks) {
  return {.name = "ranks/" + std::to_string(ranks),
          .has = [ranks](const Case& c) { return group_size(c) == ranks; },
          .ranks = ranks};
}

/// Whether a conversion to a narrower type and back can change values. Eight-bit types have no
/// narrower type.
bool has_narrower(const spec::TypeInfo& type) {
  return type.bytes > 1;
}

/// The class of cases with this input, several members and a block of at least `length_min`
/// elements.
SiteClass with_input(const InputOfType& input, std::string_view name, std::int64_t length_min) {
  return {.name = "input/" + std::string(spec::name(input.component)) + '/' + std::string(name),
          .has =
              [input, length_min](const Case& c) {
                return c.input == input.kind && input.admits(c.type, c.op) && group_size(c) > 1 &&
                       longest(c) >= length_min;
              },
          .needs = Needs::data,
          .input = input};
}

/// The inputs that every type of a collective must have: special values (in sums, for reductions;
/// some of these overflow), and values that no narrower type has.
void add_inputs(const spec::Contract& contract, std::vector<SiteClass>& out) {
  const auto op = contract.reduces ? spec::ReduceOp::sum : spec::ReduceOp::none;
  for (const spec::TypeInfo& type : spec::type_table) {
    if (spec::is_complex(type.type) || !spec::is_defined(op, type.type)) continue;
    if (is_defined(InputKind::each_special, type.type, op)) {
      const InputOfType special{type.type, InputKind::each_special, op};
      out.push_back(with_input(special, "special", special_values));
    }
    if (has_narrower(type)) {
      out.push_back(with_input({type.type, InputKind::general}, "wide", special_values));
    }
  }
}

}  // namespace

std::vector<SiteClass> site_classes(const spec::Contract& contract,
                                    const BackendTraits& traits,
                                    int ranks_min,
                                    int ranks_max) {
  std::vector<SiteClass> all;
  for (const Site& each : sites) {
    all.push_back({.name = std::string(site_prefix) + std::string(each.name),
                   .has = each.has,
                   .needs = each.needs});
  }
  for (int ranks = ranks_min; ranks <= std::min(ranks_max, counted_ranks_max); ++ranks) {
    all.push_back(with_ranks(ranks));
  }
  if (contract.sizes == spec::Sizes::scene) {
    // All other inputs of operators are numbers of single precision.
    all.push_back(with_input({spec::Type::f64, InputKind::fine}, "wide", 1));
  } else {
    add_inputs(contract, all);
  }
  std::erase_if(all, [&](const SiteClass& each) { return !may_occur(each, contract, traits); });
  return all;
}

}  // namespace rankcheck::harness
