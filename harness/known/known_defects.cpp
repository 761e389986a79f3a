#include "harness/known/known_defects.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/files.hpp"
#include "harness/base/json_text.hpp"
#include "harness/base/nearest.hpp"
#include "harness/case/family.hpp"
#include "harness/case/fields.hpp"
#include "harness/suite/suite_file.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Upper limit for the bytes of a file. It is a small text; a larger file is something else.
constexpr std::size_t known_bytes_max = std::size_t{1} << 20;

/// Reads one pattern or a list of patterns.
void read_patterns(Fields& fields, std::string_view name, std::vector<std::string>& out) {
  const json* const value = fields.find(name);
  if (value == nullptr) return;
  if (value->is_string()) {
    out = {value->get<std::string>()};
  } else {
    fields.required(name, out);
  }
  const bool has_empty = std::ranges::find(out, "") != out.end();
  if (out.empty() || has_empty) fields.fail(name, "expected at least one pattern, and none empty");
}

void read_library(Fields& fields, const std::string& place, KnownDefect& defect) {
  const json* const value = fields.find("library");
  if (value == nullptr) return;
  Fields library(*value, place + ": library");
  library.required("name", defect.library);
  if (defect.library.empty()) library.fail("name", "expected the name of a library");
  library.optional("versions", defect.versions_text);
  library.reject_unknown();
  if (value->find("versions") == value->end()) return;
  try {
    defect.versions.emplace(defect.versions_text);
  } catch (const BadInput& bad) {
    library.fail("versions", bad.what());
  }
}

void read_cases(Fields& fields, const std::string& place, KnownDefect& defect) {
  const json* const value = fields.find("cases");
  if (value == nullptr) return;
  const Fields conditions(*value, place + ": cases");
  for (const auto& [field, condition] : value->items()) {
    try {
      defect.cases.push_back({.field = field, .value = ValueCondition(condition)});
    } catch (const BadInput& bad) {
      conditions.fail(field.substr(0, 60), bad.what());
    }
  }
}

bool is_date(const std::string& text) {
  constexpr std::string_view shape = "dddd-dd-dd";
  const bool has_shape =
      text.size() == shape.size() &&
      std::equal(text.begin(), text.end(), shape.begin(), [](char is, char expected) {
        return expected == 'd' ? is >= '0' && is <= '9' : is == expected;
      });
  if (!has_shape) return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    return std::stoi(text.substr(at, digits));
  };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(number(8, 2))))
      .ok();
}

void read_verdicts(Fields& fields, KnownDefect& defect) {
  fields.optional("verdicts", defect.verdicts);
  const bool are_failures =
      std::ranges::all_of(defect.verdicts, [](Verdict each) { return is_failure(each); });
  if (!are_failures || defect.verdicts.empty()) {
    fields.fail("verdicts", "expected some of falsified, flaky, hung, crashed");
  }
}

/// Reads the symptoms that a failure of the subject can have.
void read_symptoms(Fields& fields, KnownDefect& defect) {
  std::vector<std::string> names;
  fields.optional("symptoms", names);
  if (fields.find("symptoms") == nullptr) return;
  std::vector<std::string> known;
  for (std::size_t i = 1; i < symptom_names.size(); ++i) {
    if (!says_nothing_of_case(static_cast<Symptom>(i))) known.emplace_back(symptom_names[i]);
  }
  defect.symptoms.clear();
  for (const std::string& each : names) {
    if (std::ranges::find(known, each) == known.end()) {
      fields.fail("symptoms",
                  fmt::format("got \"{:.60}\", expected some of {}{}",
                              each,
                              fmt::join(known, ", "),
                              did_you_mean(each, known)));
    }
    const auto at = std::ranges::find(symptom_names, each);
    defect.symptoms.push_back(static_cast<Symptom>(at - symptom_names.begin()));
  }
  if (names.empty()) fields.fail("symptoms", "expected at least one");
  const bool can_have_one = std::ranges::any_of(defect.verdicts, [](Verdict each) {
    return each == Verdict::falsified || each == Verdict::flaky;
  });
  if (!can_have_one) fields.fail("symptoms", "expected falsified or flaky among the verdicts");
}

KnownDefect defect_from_json(const json& value, const std::string& place) {
  Fields fields(value, place);
  KnownDefect defect;
  fields.required("id", defect.id);
  const bool is_id = !defect.id.empty() && std::ranges::all_of(defect.id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  if (!is_id) fields.fail("id", "expected letters, digits, '.', '_' and '-'");
  read_patterns(fields, "operation", defect.operations);
  read_patterns(fields, "algorithm", defect.algorithms);
  read_patterns(fields, "backend", defect.backends);
  read_patterns(fields, "property", defect.properties);
  read_library(fields, place, defect);
  read_cases(fields, place, defect);
  read_verdicts(fields, defect);
  read_symptoms(fields, defect);
  fields.required("reason", defect.reason);
  if (defect.reason.empty()) fields.fail("reason", "expected a sentence that says what is wrong");
  fields.optional("link", defect.link);
  fields.optional("expires", defect.expires);
  if (!defect.expires.empty() && !is_date(defect.expires)) {
    fields.fail("expires",
                fmt::format("got {:.60}, expected a day such as 2026-12-31", defect.expires));
  }
  fields.reject_unknown();
  return defect;
}

/// Parses text and refuses names that occur twice in one object: the second one would replace the
/// first, and the entry would cover other cases than its writer sees.
json parsed_once(const std::string& text, const std::string& place) {
  if (!is_shallow(text, json_depth_max)) throw BadInput(place + ": " + why_not_json(text));
  using Event = json::parse_event_t;
  std::map<int, std::set<std::string>> seen;
  const auto note = [&](int depth, Event event, json& parsed) {
    if (event == Event::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!seen[depth].insert(name).second) {
        throw BadInput(fmt::format("{}: {:.60}: got it twice, expected it once", place, name));
      }
    } else if (event != Event::value && event != Event::array_start && event != Event::array_end) {
      // An object starts or ends. Its names are one level deeper.
      seen.erase(depth + 1);
    }
    return true;
  };
  json value = json::parse(text, note, false);
  if (value.is_discarded()) throw BadInput(place + ": " + why_not_json(text));
  return value;
}

/// Whether the entry covers every case of every unit.
bool covers_everything(const KnownDefect& defect) {
  const auto is_any = [](const std::vector<std::string>& patterns) {
    return std::ranges::find(patterns, "*") != patterns.end();
  };
  return is_any(defect.operations) && is_any(defect.algorithms) && is_any(defect.backends) &&
         is_any(defect.properties) && defect.library.empty() && defect.cases.empty();
}

/// Throws BadInput if the catalogue has nothing that the entry can match, or if the entry would
/// accept any failure.
void require_sense(const KnownDefect& defect,
                   const Catalogue& catalogue,
                   const std::string& place) {
  std::vector<const Operation*> operations;
  for (const Operation& each : catalogue.operations()) {
    const std::string name(each.contract.name);
    if (matches_any(defect.operations, name)) operations.push_back(&each);
  }
  const auto fail = [&](std::string_view what) {
    throw BadInput(fmt::format("{}: {}: {}", place, defect.id, what));
  };
  if (covers_everything(defect)) {
    fail(
        "covers every failure; expected at least one of operation, algorithm, backend, property, "
        "library and cases");
  }
  if (operations.empty()) {
    fail(fmt::format("operation: {}: matches no operation that 'rankcheck list' shows",
                     fmt::join(defect.operations, ", ")));
  }
  const bool has_property = std::ranges::any_of(operations, [&](const auto* of) {
    return std::ranges::any_of(of->properties, [&](const Property& each) {
      return matches_any(defect.properties, std::string(each.name));
    });
  });
  if (!has_property) {
    fail(fmt::format("property: {}: matches no property of these operations",
                     fmt::join(defect.properties, ", ")));
  }
  for (const CaseCondition& condition : defect.cases) {
    // One family that has the field is enough. The entry covers no cases of the others.
    std::string why;
    bool is_fine = false;
    for (const Operation* const each : operations) {
      try {
        require_sense(condition, &family_of(each->contract));
        is_fine = true;
        break;
      } catch (const BadInput& bad) {
        if (why.empty()) why = bad.what();
      }
    }
    if (!is_fine) fail("cases: " + why);
  }
}

/// Calls take(name, text) with each text in the value and the name of its field.
template <class Take>
void each_text(const ordered_json& value, const std::string& name, const Take& take) {
  if (value.is_string()) take(name, value.template get_ref<const std::string&>());
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items()) {
    each_text(inner, value.is_object() ? key : name, take);
  }
}

}  // namespace

bool KnownDefect::is_about(const Unit& unit) const {
  return matches_any(operations, unit.operation) && matches_any(algorithms, unit.algorithm) &&
         may_be_in_stages(unit);
}

bool KnownDefect::may_be_in_stages(const Unit& unit) const {
  return matches_any(properties, unit.property) &&
         (matches_any(backends, unit.backend) || matches_any(backends, unit.tested()));
}

bool KnownDefect::covers(const Case& c, const Family* family) const {
  return std::ranges::all_of(cases,
                             [&](const CaseCondition& each) { return each.holds(c, family); });
}

bool KnownDefect::damages_memory() const {
  return std::ranges::find(symptoms, Symptom::outside) != symptoms.end();
}

bool KnownDefect::covers(Verdict verdict, Symptom symptom) const {
  // A worker whose own memory was damaged names any algorithm.
  const bool has_symptom = symptom == Symptom::none ||
                           std::ranges::find(symptoms, symptom) != symptoms.end() ||
                           (symptom == Symptom::path && damages_memory());
  return has_symptom && std::ranges::find(verdicts, verdict) != verdicts.end();
}

std::vector<KnownDefect> known_from_json(const json& value, const std::string& place) {
  Fields fields(value, place);
  int version = 0;
  fields.required("known_version", version);
  if (version != known_version) {
    fields.fail("known_version", fmt::format("got {}, expected {}", version, known_version));
  }
  const json& entries = fields.at("defects");
  if (!entries.is_array()) fields.fail("defects", "expected a list");
  std::vector<KnownDefect> defects;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string entry = fmt::format("{}: defects[{}]", place, i);
    const json& id = entries[i].is_object() ? entries[i].value("id", json()) : json();
    if (id.is_string()) entry += fmt::format(" ({:.60})", id.get<std::string>());
    defects.push_back(defect_from_json(entries[i], entry));
    if (!ids.insert(defects.back().id).second) {
      throw BadInput(entry + ": id: expected an id of its own, another entry has it");
    }
  }
  fields.reject_unknown();
  return defects;
}

ordered_json read_known_files(const std::vector<std::string>& paths, const Catalogue& catalogue) {
  if (paths.empty()) return nullptr;
  ordered_json all{{"known_version", known_version}, {"defects", ordered_json::array()}};
  std::set<std::string> ids;
  for (const std::string& path : paths) {
    const std::string place = "--known: " + path;
    const json value = parsed_once(read_file(path, known_bytes_max), place);
    for (const KnownDefect& each : known_from_json(value, place)) {
      require_sense(each, catalogue, place);
      if (!ids.insert(each.id).second) {
        throw BadInput(
            fmt::format("{}: {}: expected an id of its own, another file has it", place, each.id));
      }
    }
    for (const json& each : value["defects"]) all["defects"].push_back(ordered_json(each));
  }
  return all;
}

std::string why_not_applied(const KnownDefect& defect,
                            const ordered_json& environment,
                            const std::string& tested) {
  if (defect.library.empty()) return {};
  const ordered_json none = ordered_json::object();
  const auto field = [&](const ordered_json& value,
                         const std::string& name) -> const ordered_json& {
    const auto found = value.find(name);
    return found == value.end() ? none : *found;
  };
  const ordered_json& versions = field(field(field(environment, "backends"), tested), "versions");
  bool fits = false;
  std::string named;
  each_text(versions, "", [&](const std::string& name, const std::string& text) {
    const bool is_name = version_behind(defect.library, name + " 0") == "0";
    const std::string_view version =
        is_name ? first_version(text) : version_behind(defect.library, text);
    if (version.empty()) return;
    fits = fits || !defect.versions || defect.versions->contains(version);
    if (named.empty()) named = version;
  });
  if (fits) return {};
  if (named.empty()) return fmt::format("names no version of {}", defect.library);
  return fmt::format("has {} {}, which is not in {}", defect.library, named, defect.versions_text);
}

std::vector<const KnownDefect*> known_of(const std::vector<KnownDefect>& defects,
                                         const ordered_json& environment,
                                         const Unit& unit) {
  std::vector<const KnownDefect*> known;
  for (const KnownDefect& each : defects) {
    if (each.may_be_in_stages(unit) && why_not_applied(each, environment, unit.tested()).empty()) {
      known.push_back(&each);
    }
  }
  return known;
}

}  // namespace rankcheck::harness
