#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/base/weights.hpp"
#include "harness/case/family_field.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/family.hpp"

// The types' own namespace is where the harness looks for these functions.
namespace rankcheck::spec {

namespace {

constexpr std::array<std::string_view, 4> pattern_names{"ring", "pairs", "self", "one_way"};

}  // namespace

void read_value(const nlohmann::json& value, ReduceOp& out) {
  out = static_cast<ReduceOp>(harness::read_name(value, reduce_op_names));
}
void read_value(const nlohmann::json& value, Pattern& out) {
  out = static_cast<Pattern>(harness::read_name(value, pattern_names));
}
nlohmann::ordered_json write_value(ReduceOp value) {
  return name(value);
}
nlohmann::ordered_json write_value(Pattern value) {
  return pattern_names[spec::to_size(value)];
}

}  // namespace rankcheck::spec

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::FamilyField;
using harness::place;
using harness::ShrinkPlace;
using harness::smaller;
using spec::Pattern;
using spec::ReduceOp;

// In these lists, the plainest value comes first. A value that is not listed is the least plain.
constexpr std::array plain_ops{ReduceOp::sum,
                               ReduceOp::max,
                               ReduceOp::min,
                               ReduceOp::prod,
                               ReduceOp::avg,
                               ReduceOp::premul_sum,
                               ReduceOp::bor,
                               ReduceOp::bxor,
                               ReduceOp::band,
                               ReduceOp::lor,
                               ReduceOp::lxor,
                               ReduceOp::land,
                               ReduceOp::maxloc,
                               ReduceOp::minloc,
                               ReduceOp::compose};
constexpr std::array plain_patterns{Pattern::ring, Pattern::pairs, Pattern::self, Pattern::one_way};

template <auto member>
constexpr harness::Field<Case> field(std::string_view name) {
  return harness::part_field<harness::MemberOfPart<member>>(name);
}

/// Appends the case with each of these values of a field.
template <class Member, class Values>
void with(Member CollectiveCase::*member,
          const Case& c,
          const Values& values,
          std::vector<Case>& out) {
  for (const auto value : values) collective(out.emplace_back(c)).*member = value;
}

template <auto member>
std::uint64_t value_of(const Case& c) {
  return static_cast<std::uint64_t>(collective(c).*member);
}

/// Tries smaller numbers.
template <auto member>
void shrink_number(const Case& c, std::vector<Case>& out) {
  with(member, c, smaller(collective(c).*member), out);
}

/// The plainest length before or behind an axis is 1, and so is the plainest stride.
template <auto member>
std::uint64_t length_weight(const Case& c) {
  return harness::distance_from(1, collective(c).*member);
}

template <auto member>
void shrink_length(const Case& c, std::vector<Case>& out) {
  with(member, c, smaller(collective(c).*member, std::int64_t{1}), out);
}

/// With the fewest elements that fail, often only the last element fails, because of its value.
void shrink_first_index(const Case& c, std::vector<Case>& out) {
  Case& last_alone = out.emplace_back(c);
  collective(last_alone).first_index += std::max<std::int64_t>(c.count - 1, 0);
  last_alone.count = 1;
  shrink_number<&CollectiveCase::first_index>(c, out);
}

/// Two calls are the fewest that show what repeated calls do. A single call would fail only because
/// of what earlier cases left behind, and pass when it is replayed. Three calls are the default.
void shrink_repeat(const Case& c, std::vector<Case>& out) {
  if (c.property == repeating_property) {
    with(&CollectiveCase::repeat, c, smaller(collective(c).repeat, 2), out);
  }
}

template <auto member>
constexpr FamilyField number(std::string_view name,
                             std::string_view before,
                             ShrinkPlace place,
                             int order = 0,
                             harness::FieldRole role = harness::FieldRole::choice) {
  return {.json = field<member>(name),
          .before = before,
          .place = place,
          .order = order,
          .weight = value_of<member>,
          .candidates = shrink_number<member>,
          .role = role};
}

template <auto member>
constexpr FamilyField length(std::string_view name, int order) {
  return {.json = field<member>(name),
          .before = "type",
          .place = ShrinkPlace::behind_counts,
          .order = order,
          .weight = length_weight<member>,
          .candidates = shrink_length<member>};
}

constexpr std::array all_fields{
    number<&CollectiveCase::root>("root", "count", ShrinkPlace::behind_group),
    number<&CollectiveCase::gap>("gap", "type", ShrinkPlace::behind_counts, 2),
    length<&CollectiveCase::outer>("outer", 3),
    length<&CollectiveCase::inner>("inner", 4),
    length<&CollectiveCase::send_stride>("send_stride", 5),
    length<&CollectiveCase::recv_stride>("recv_stride", 6),
    FamilyField{.json = field<&CollectiveCase::op>("op"),
                .before = "in_place",
                .place = ShrinkPlace::behind_type,
                .weight = [](const Case& c) { return place(plain_ops, collective(c).op); },
                .candidates =
                    [](const Case& c, std::vector<Case>& out) {
                      if (collective(c).op == ReduceOp::none) return;
                      with(&CollectiveCase::op, c, plain_ops, out);
                    }},
    FamilyField{
        .json = field<&CollectiveCase::pattern>("pattern"),
        .before = "in_place",
        .place = ShrinkPlace::behind_schedule,
        .weight = [](const Case& c) { return place(plain_patterns, collective(c).pattern); },
        .candidates =
            [](const Case& c, std::vector<Case>& out) {
              with(&CollectiveCase::pattern, c, plain_patterns, out);
            }},
    FamilyField{
        .json = field<&CollectiveCase::shift>("shift"),
        .before = "in_place",
        .place = ShrinkPlace::behind_schedule,
        .order = 1,
        .weight = [](const Case& c) { return harness::distance_from(1, collective(c).shift); },
        .candidates =
            [](const Case& c, std::vector<Case>& out) {
              with(&CollectiveCase::shift, c, std::array{1, 0, 2, -1}, out);
            }},
    FamilyField{.json = field<&CollectiveCase::first_index>("first_index"),
                .before = "scale",
                .place = ShrinkPlace::behind_counts,
                .weight = value_of<&CollectiveCase::first_index>,
                .candidates = shrink_first_index,
                .role = harness::FieldRole::input},
    number<&CollectiveCase::index_stride>(
        "index_stride", "scale", ShrinkPlace::behind_counts, 1, harness::FieldRole::input),
    FamilyField{.json = field<&CollectiveCase::repeat>("repeat"),
                .before = "input",
                .place = ShrinkPlace::behind_group,
                .order = 1,
                .weight = value_of<&CollectiveCase::repeat>,
                .candidates = shrink_repeat,
                .role = harness::FieldRole::program},
};

}  // namespace

std::span<const FamilyField> collective_fields() {
  return all_fields;
}

}  // namespace rankcheck::cases
