#include "harness/check/finding_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/case/field_table.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array wrong_fields{
    field<&WrongElement::rank, Presence::required>("rank"),
    field<&WrongElement::index, Presence::required>("index"),
    field<&WrongElement::expected, Presence::required>("expected"),
    field<&WrongElement::got, Presence::required>("got"),
    field<&WrongElement::error, Presence::required>("error"),
    field<&WrongElement::bound, Presence::required>("bound"),
    field<&WrongElement::decoded>("decoded"),
    field<&WrongElement::stage>("stage"),
    field<&WrongElement::group>("group"),
    field<&WrongElement::compared_with>("compared_with"),
};

constexpr std::array window_fields{
    field<&ValueWindow::output, Presence::required>("output"),
    count_field<&ValueWindow::first, Presence::required>("first"),
    field<&ValueWindow::columns, Presence::required>("columns"),
    field<&ValueWindow::expected, Presence::required>("expected"),
    field<&ValueWindow::got, Presence::required>("got"),
    field<&ValueWindow::error, Presence::required>("error"),
};

constexpr std::array power_fields{
    count_field<&Power::elements, Presence::required>("elements"),
    count_field<&Power::useful, Presence::required>("useful"),
    field<&Power::smallest_change, Presence::required>("smallest_change"),
    count_field<&Power::any_input>("any_input"),
};

constexpr std::array unit_fields{
    field<&Unit::operation, Presence::required>("operation"),
    field<&Unit::algorithm, Presence::required>("algorithm"),
    field<&Unit::backend, Presence::required>("backend"),
    field<&Unit::property, Presence::required>("property"),
    field<&Unit::pinned>("pinned"),
    field<&Unit::variant>("variant"),
    field<&Unit::subject>("subject"),
};

/// Fields that say how cases are generated. A pinned case has none of them.
constexpr std::array generation_fields{
    field<&Unit::cases, Presence::written>("cases"),
    Field<Unit>{
        .name = "ranks",
        .write =
            [](std::string_view name, const Unit& unit, ordered_json& out) {
              out[std::string(name)] = {unit.ranks_min, unit.ranks_max};
            },
        .read =
            [](std::string_view name, Fields& fields, Unit& unit) {
              std::vector<int> ranks{unit.ranks_min, unit.ranks_max};
              fields.optional(name, ranks);
              if (ranks.size() != 2) fields.fail(name, "expected [least, most]");
              unit.ranks_min = ranks[0];
              unit.ranks_max = ranks[1];
            },
    },
    field<&Unit::types>("types"),
    field<&Unit::require_all_cells, Presence::written>("require_all_cells"),
    field<&Unit::require>("require"),
    field<&Unit::ranks_required>("ranks_required"),
    field<&Unit::count>("count"),
    field<&Unit::blocks>("blocks"),
    field<&Unit::hosts>("hosts"),
};

}  // namespace

// These functions are static, because argument-dependent lookup does not look into unnamed
// namespaces.
static ordered_json write_value(const WrongElement& wrong) {
  return with_fields<WrongElement>(wrong_fields, wrong);
}

static void read_value(const json& value, WrongElement& wrong) {
  read_whole<WrongElement>(wrong_fields, value, wrong);
}

namespace {

constexpr std::array known_fields{
    field<&KnownCount::id, Presence::required>("id"),
    count_field<&KnownCount::covered, Presence::required>("covered"),
    count_field<&KnownCount::failed, Presence::required>("failed"),
    count_field<&KnownCount::left_out>("left_out"),
    field<&KnownCount::verdict>("verdict"),
    field<&KnownCount::reason>("reason"),
    field<&KnownCount::minimal>("minimal"),
    field<&KnownCount::wrong>("wrong"),
    field<&KnownCount::wrong_count>("wrong_count"),
};

}  // namespace

static ordered_json write_value(const ValueWindow& window) {
  return with_fields<ValueWindow>(window_fields, window);
}

static void read_value(const json& value, ValueWindow& window) {
  const Fields fields = read_whole<ValueWindow>(window_fields, value, window);
  if (window.columns < 1) fields.fail("columns", "expected at least 1");
  const std::size_t size = window.expected.size();
  if (size > window_values_max) fields.fail("expected", "expected at most 256 values");
  if (window.got.size() != size || window.error.size() != size) {
    fields.fail("got", "expected as many values in expected, got and error");
  }
}

static ordered_json write_value(const Power& power) {
  return with_fields<Power>(power_fields, power);
}

static ordered_json write_value(const KnownCount& count) {
  return with_fields<KnownCount>(known_fields, count);
}

static void read_value(const json& value, KnownCount& count) {
  const Fields fields = read_whole<KnownCount>(known_fields, value, count);
  if (count.failed > count.covered) fields.fail("failed", "expected no more than covered");
  if (count.failed == 0) return;
  if (!count.minimal) fields.fail("minimal", "expected a case that failed");
  if (!is_failure(count.verdict)) fields.fail("verdict", "expected the verdict of a failure");
}

static void read_value(const json& value, Power& power) {
  const Fields fields = read_whole<Power>(power_fields, value, power);
  if (power.useful > power.elements) fields.fail("useful", "expected no more than elements");
}

/// "2:1 3:4" is a case of two members and four cases of three members. A report may have 100,000
/// such texts; lists would make it twice as long.
static ordered_json write_value(const std::map<std::string, MemberCounts>& cells) {
  ordered_json out = ordered_json::object();
  for (const auto& [cell, counts] : cells) {
    std::string text;
    for (const auto& [members, cases] : counts.cases) {
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", members, cases);
    }
    out[cell] = std::move(text);
  }
  return out;
}

static void read_value(const json& value, MemberCounts& counts) {
  constexpr std::string_view wanted = "members and their cases, such as 2:1 3:4";
  if (!value.is_string()) expected(wanted, value);
  const std::string text = value.get<std::string>();
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](auto out) {
    const auto read = std::from_chars(at, end, out);
    if (read.ec != std::errc() || out < 1) expected(wanted, value);
    at = read.ptr;
    return out;
  };
  const auto skip = [&](char c) {
    if (at == end || *at != c) expected(wanted, value);
    ++at;
  };
  counts.cases.clear();
  while (true) {
    const int members = number(int{});
    skip(':');
    const bool is_new = counts.cases.emplace(members, number(std::int64_t{})).second;
    if (!is_new) expected(wanted, value);
    if (at == end) return;
    skip(' ');
  }
}

static ordered_json write_value(const Unit& unit) {
  ordered_json out = with_fields<Unit>(unit_fields, unit);
  return unit.pinned.empty() ? with_fields<Unit>(generation_fields, unit, std::move(out)) : out;
}

static void read_value(const json& value, Unit& unit) {
  Fields fields(value);
  read_fields<Unit>(unit_fields, fields, unit);
  read_fields<Unit>(generation_fields, fields, unit);
  fields.reject_unknown();
}

namespace {

constexpr std::array finding_fields{
    field<&Finding::unit, Presence::required>("unit"),
    field<&Finding::verdict, Presence::required>("verdict"),
    field<&Finding::symptom>("symptom"),
    field<&Finding::reason>("reason"),
    count_field<&Finding::cases, Presence::required>("cases"),
    field<&Finding::refused_cases>("refused_cases"),
    field<&Finding::refusal>("refusal"),
    field<&Finding::ranks_max>("ranks_max"),
    count_field<&Finding::compared_bytes, Presence::required>("compared_bytes"),
    field<&Finding::ratio_max, Presence::required>("ratio_max"),
    field<&Finding::power>("power"),
    count_field<&Finding::powerless_cases>("powerless_cases"),
    field<&Finding::cells>("cells"),
    field<&Finding::cell_members>("cell_members"),
    field<&Finding::missing_cells>("missing_cells"),
    field<&Finding::refused_cells>("refused_cells"),
    field<&Finding::known_cells>("known_cells"),
    field<&Finding::minimal>("minimal"),
    field<&Finding::wrong>("wrong"),
    count_field<&Finding::wrong_count>("wrong_count"),
    field<&Finding::marks>("marks"),
    field<&Finding::values>("values"),
    field<&Finding::original>("original"),
    field<&Finding::steps>("steps"),
    count_field<&Finding::shrinks>("shrinks"),
    count_field<&Finding::replays>("replays"),
    count_field<&Finding::replays_failed>("replays_failed"),
    field<&Finding::known>("known"),
    field<&Finding::is_known>("is_known"),
};

/// Throws BadInput if a count of a cell is negative, or if there are too many steps.
void require_counts(const Finding& finding, const Fields& fields) {
  for (const auto& [cell, count] : finding.cells) {
    fields.require_at_least_0("cells: " + cell, static_cast<double>(count));
  }
  if (std::ssize(finding.steps) > std::min<std::ptrdiff_t>(steps_max, finding.shrinks)) {
    fields.fail("steps",
                fmt::format("got {}, expected at most {}, and no more than shrinks",
                            finding.steps.size(),
                            steps_max));
  }
}

}  // namespace

ordered_json to_json(const Power& power) {
  return write_value(power);
}

ordered_json to_json(const Unit& unit) {
  return write_value(unit);
}

Unit unit_from_json(const json& value) {
  Unit unit;
  read_value(value, unit);
  return unit;
}

ordered_json to_json(const Finding& finding) {
  return with_fields<Finding>(finding_fields, finding, {{"id", finding.unit.id()}});
}

Finding finding_from_json(const json& value) {
  Fields fields(value, "finding");
  std::string id;
  fields.required("id", id);
  Finding finding;
  read_fields<Finding>(finding_fields, fields, finding);
  require_counts(finding, fields);
  if (id != finding.unit.id()) fields.fail("id", "got " + id + ", expected " + finding.unit.id());
  fields.reject_unknown();
  return finding;
}

}  // namespace rankcheck::harness
