#include "harness/finding.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "harness/fields.hpp"
#include "harness/site_class.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json to_json(const Unit& unit) {
  ordered_json out{
      {"operation", unit.operation},
      {"algorithm", unit.algorithm},
      {"backend", unit.backend},
      {"property", unit.property},
  };
  if (!unit.pinned.empty()) {
    out["pinned"] = unit.pinned;
    return out;
  }
  if (!unit.variant.empty()) out["variant"] = unit.variant;
  out["cases"] = unit.cases;
  out["ranks"] = {unit.ranks_min, unit.ranks_max};
  for (const spec::Type type : unit.types) out["types"].push_back(spec::name(type));
  out["require_all_cells"] = unit.require_all_cells;
  return out;
}

Unit unit_from_json(const json& value, const std::string& place) {
  Fields fields(value, place);
  Unit unit;
  fields.required("operation", unit.operation);
  fields.required("algorithm", unit.algorithm);
  fields.required("backend", unit.backend);
  fields.required("property", unit.property);
  fields.optional("pinned", unit.pinned);
  fields.optional("variant", unit.variant);
  fields.optional("cases", unit.cases);
  fields.optional("require_all_cells", unit.require_all_cells);
  std::vector<int> ranks{unit.ranks_min, unit.ranks_max};
  fields.optional("ranks", ranks);
  if (ranks.size() != 2) fields.fail("ranks", "expected [least, most]");
  unit.ranks_min = ranks[0];
  unit.ranks_max = ranks[1];
  fields.optional("types", unit.types);
  fields.reject_unknown();
  return unit;
}

ordered_json to_json(const WrongElement& wrong) {
  ordered_json out{
      {"rank", wrong.rank},
      {"index", wrong.index},
      {"expected", wrong.expected},
      {"got", wrong.got},
      {"error", number_to_json(wrong.error)},
      {"bound", number_to_json(wrong.bound)},
  };
  if (!wrong.decoded.empty()) out["decoded"] = wrong.decoded;
  return out;
}

WrongElement wrong_from_json(const json& value, const std::string& place) {
  Fields fields(value, place);
  WrongElement wrong;
  fields.required("rank", wrong.rank);
  fields.required("index", wrong.index);
  fields.required("expected", wrong.expected);
  fields.required("got", wrong.got);
  fields.required("error", wrong.error);
  fields.required("bound", wrong.bound);
  fields.optional("decoded", wrong.decoded);
  fields.reject_unknown();
  return wrong;
}

void read_cells(Fields& fields, std::map<std::string, std::int64_t>& cells) {
  const json* value = fields.find("cells");
  if (value == nullptr) return;
  if (!value->is_object()) fields.fail("cells", "expected an object of counts");
  Fields entries(*value, "finding: cells");
  for (const auto& [key, count] : value->items()) entries.required(key, cells[key]);
}

void read_failure(Fields& fields, const std::string& place, Finding& finding) {
  if (const json* minimal = fields.find("minimal")) finding.minimal = case_from_json(*minimal);
  if (const json* wrong = fields.find("wrong")) {
    if (!wrong->is_array()) fields.fail("wrong", "expected a list");
    for (const json& each : *wrong) {
      finding.wrong.push_back(wrong_from_json(each, place + ": wrong"));
    }
  }
  fields.optional("wrong_count", finding.wrong_count);
  fields.optional("shrinks", finding.shrinks);
  fields.optional("replays", finding.replays);
  fields.optional("replays_failed", finding.replays_failed);
}

}  // namespace

std::string Unit::id() const {
  std::string text = fmt::format("{}/{}/{}/{}", operation, algorithm, backend, property);
  if (!variant.empty()) text += "@" + variant;
  if (!pinned.empty()) text += ":" + pinned;
  return text;
}

ordered_json to_json(const Finding& finding) {
  ordered_json out{
      {"id", finding.unit.id()},
      {"unit", to_json(finding.unit)},
      {"verdict", name(finding.verdict)},
  };
  if (!finding.reason.empty()) out["reason"] = finding.reason;
  out["cases"] = finding.cases;
  out["compared_bytes"] = finding.compared_bytes;
  out["ratio_max"] = number_to_json(finding.ratio_max);
  if (!finding.cells.empty()) out["cells"] = finding.cells;
  if (!finding.missing_cells.empty()) out["missing_cells"] = finding.missing_cells;
  if (finding.minimal) out["minimal"] = to_json(*finding.minimal);
  for (const WrongElement& each : finding.wrong) out["wrong"].push_back(to_json(each));
  if (finding.wrong_count > 0) out["wrong_count"] = finding.wrong_count;
  if (finding.shrinks > 0) out["shrinks"] = finding.shrinks;
  if (finding.replays > 0) {
    out["replays"] = finding.replays;
    out["replays_failed"] = finding.replays_failed;
  }
  return out;
}

Finding finding_from_json(const json& value) {
  const std::string place = "finding";
  Fields fields(value, place);
  Finding finding;
  finding.unit = unit_from_json(fields.at("unit"), place + ": unit");
  std::string id;
  fields.required("id", id);
  if (id != finding.unit.id()) fields.fail("id", "expected " + finding.unit.id() + ", got " + id);
  std::string verdict;
  fields.required("verdict", verdict);
  const auto known = verdict_named(verdict);
  if (!known) {
    fields.fail("verdict",
                fmt::format("expected one of {}, got {}", fmt::join(verdict_names, ", "), verdict));
  }
  finding.verdict = *known;
  fields.optional("reason", finding.reason);
  fields.required("cases", finding.cases);
  fields.required("compared_bytes", finding.compared_bytes);
  fields.required("ratio_max", finding.ratio_max);
  read_cells(fields, finding.cells);
  fields.optional("missing_cells", finding.missing_cells);
  read_failure(fields, place, finding);
  fields.reject_unknown();
  return finding;
}

void judge_coverage(Finding& finding) {
  auto& missing = finding.missing_cells;
  std::sort(missing.begin(), missing.end());
  finding.verdict = Verdict::passed;
  finding.reason.clear();
  const bool compared = std::any_of(finding.cells.begin(),
                                    finding.cells.end(),
                                    [](const auto& cell) { return !is_site(cell.first); });
  if (!compared) {
    finding.verdict = Verdict::vacuous;
    finding.reason = fmt::format("nothing was compared in {} cases", finding.cases);
  } else if (!missing.empty()) {
    finding.verdict = Verdict::vacuous;
    finding.reason = fmt::format("{} of {} cells were not covered in {} cases, first {}",
                                 missing.size(),
                                 finding.cells.size() + missing.size(),
                                 finding.cases,
                                 missing.front());
  }
}

bool lacks_coverage(const Finding& finding) {
  return finding.verdict == Verdict::vacuous && !finding.minimal;
}

void merge(Finding& total, const Finding& round) {
  const auto may_improve = [](const Finding& each) {
    return each.verdict == Verdict::passed || lacks_coverage(each);
  };
  Finding out = may_improve(total) && !may_improve(round) ? round : total;
  out.unit = total.unit;
  out.cases = total.cases + round.cases;
  out.compared_bytes = total.compared_bytes + round.compared_bytes;
  out.ratio_max = std::max(total.ratio_max, round.ratio_max);
  out.cells = total.cells;
  for (const auto& [cell, count] : round.cells) out.cells[cell] += count;
  std::set<std::string> missing(total.missing_cells.begin(), total.missing_cells.end());
  missing.insert(round.missing_cells.begin(), round.missing_cells.end());
  std::erase_if(missing, [&](const std::string& cell) { return out.cells.contains(cell); });
  out.missing_cells.assign(missing.begin(), missing.end());
  if (may_improve(out)) judge_coverage(out);
  total = std::move(out);
}

}  // namespace rankcheck::harness
