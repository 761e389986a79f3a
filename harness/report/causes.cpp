#include "harness/report/causes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/case/family.hpp"

namespace rankcheck::harness {

namespace {

/// The longest name of an operation, an algorithm or a backend in a sentence.
constexpr std::size_t name_bytes_max = 120;

/// Severe verdicts come first.
int order_of(Verdict verdict) {
  constexpr std::array severe_first{Verdict::falsified,
                                    Verdict::crashed,
                                    Verdict::hung,
                                    Verdict::flaky,
                                    Verdict::vacuous,
                                    Verdict::errored};
  const auto* const found = std::find(severe_first.begin(), severe_first.end(), verdict);
  return static_cast<int>(found - severe_first.begin());
}

/// A reason without its numbers and names of this one failure.
std::string kind_of(std::string_view reason) {
  std::string out;
  for (const char c : reason.substr(0, 120)) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (is_digit && out.ends_with('#')) continue;
    out += is_digit ? '#' : c;
  }
  return out;
}

std::string cause_key(const Finding& finding) {
  // All units without power or coverage have one cause, whatever the missing cells are.
  if (lacks_coverage(finding)) return "coverage";
  if (const WrongElement* const wrong = telling_element(finding); wrong != nullptr) {
    return std::to_string(static_cast<int>(cause_of(finding, *wrong)));
  }
  return kind_of(finding.reason);
}

/// Whether the failure says why it happened, so that another operation may fail for the same cause.
/// Undecoded wrong values say only that something is wrong, and cells belong to their operation.
bool says_why(const Finding& finding) {
  if (lacks_coverage(finding)) return false;
  if (finding.wrong_count == 0) return !finding.reason.empty();
  return telling_element(finding) != nullptr;
}

/// Whether the finding says only that two results of the code under test differ.
bool is_relative(const Finding& finding) {
  return finding.unit.property != Case{}.property;
}

/// Small and direct failures come first.
std::tuple<bool, int, std::int64_t, std::int64_t> size_of(const Finding& finding) {
  if (!finding.minimal) return {true, 1 << 20, 0, 0};
  return {
      is_relative(finding), finding.minimal->ranks, finding.minimal->count, finding.wrong_count};
}

/// "rank 2 missing, rank 3 twice": returns the parts between the commas.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(", ", start), text.size());
    out.push_back(text.substr(start, end - start));
    start = end + 2;
  }
  return out;
}

/// "rank 2 missing" without the word "missing". Empty if the part does not end with the word.
std::string_view before(std::string_view part, std::string_view word) {
  return part.ends_with(word) ? part.substr(0, part.size() - word.size()) : std::string_view();
}

std::string said(std::string_view part) {
  if (const auto rank = before(part, " missing"); !rank.empty()) {
    return fmt::format("The contribution of {} is missing.", rank);
  }
  if (const auto rank = before(part, " twice"); !rank.empty()) {
    return fmt::format("The contribution of {} was added twice.", rank);
  }
  const std::size_t at = part.find(" shows ");
  return fmt::format("The contribution of {} is wrong: it{}.",
                     part.substr(0, at),
                     part.substr(std::min(at, part.size())));
}

/// Makes a sentence of a text that names a place or another value, or that only lacks its dot.
std::string sentence_from(std::string text) {
  if (text.empty()) return text;
  const auto starts_with = [&](std::string_view word) { return text.starts_with(word); };
  constexpr std::array places{"pixel ", "value ", "pattern "};
  if (std::any_of(places.begin(), places.end(), starts_with)) return "At " + text + '.';
  constexpr std::array values{"result of call ", "term of call "};
  if (std::any_of(values.begin(), values.end(), starts_with)) {
    return "The value is the " + text + '.';
  }
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + '.';
}

/// Finds out what is special about the minimal cases of failures.
class UnusualCells {
 public:
  /// The cell of the minimal case. Empty if it is the plainest one of the operation, because then
  /// it says nothing.
  std::string of(const Finding& finding) {
    if (!finding.minimal) return {};
    const Case& c = *finding.minimal;
    const Family* const family = find_family(c.operation);
    if (family == nullptr) return {};
    const std::vector<Cell>& cells = cells_of(*family, c.operation);
    const int variant = family->variant(c);
    const auto found = std::find_if(cells.begin(), cells.end(), [&](const Cell& each) {
      return each.type == c.type && each.variant == variant;
    });
    if (found == cells.end() || found == plainest(cells)) return {};
    return found->name();
  }

 private:
  const std::vector<Cell>& cells_of(const Family& family, const std::string& operation) {
    const auto [at, is_new] = cells_.try_emplace(operation);
    const spec::Contract* const contract = family.find(operation);
    if (is_new && contract != nullptr) at->second = family.cells(*contract);
    return at->second;
  }

  /// The first cell of the type to which cases shrink, or else the first cell.
  static std::vector<Cell>::const_iterator plainest(const std::vector<Cell>& cells) {
    const spec::Type plain = Case{}.type;
    const auto found = std::find_if(
        cells.begin(), cells.end(), [&](const Cell& each) { return each.type == plain; });
    return found == cells.end() ? cells.begin() : found;
  }

  std::map<std::string, std::vector<Cell>> cells_;
};

/// What fails: the verdict, the operation and the algorithm unless the cell is unusual, the name of
/// the code under test, and the cell.
using Subject = std::tuple<int, std::string, std::string, std::string, std::string>;

Subject subject_of(const Finding& finding, const std::string& cell) {
  const Unit& unit = finding.unit;
  return {order_of(finding.verdict),
          cell.empty() ? unit.operation : "",
          cell.empty() ? unit.algorithm : "",
          unit.tested(),
          cell};
}

/// What fails, and its cause.
using GroupKey = std::pair<Subject, std::string>;

GroupKey key_of(const Finding& finding, Subject subject) {
  if (says_why(finding)) std::get<1>(subject).clear();
  return {std::move(subject), cause_key(finding)};
}

/// Whether the picture says that the element was not written. It shows the only stage.
bool is_unwritten(const Finding& finding, const WrongElement& wrong) {
  if (wrong.stage > 0 || wrong.rank < 0 || wrong.index < 0) return false;
  const auto rank = spec::to_size(wrong.rank);
  const auto index = spec::to_size(wrong.index);
  const auto& marks = finding.marks;
  return rank < marks.size() && index < marks[rank].size() &&
         marks[rank][index] == static_cast<char>(Mark::unwritten);
}

}  // namespace

Cause cause_of(const Finding& finding, const WrongElement& wrong) {
  if (is_unwritten(finding, wrong)) return Cause::unwritten;
  const std::string& text = wrong.decoded;
  if (text == not_written) return Cause::unwritten;
  if (text == no_input) return Cause::foreign;
  if (text == nan_dropped) return Cause::nan_lost;
  if (text == subnormal_flushed) return Cause::subnormal_lost;
  if (text.starts_with("element ") && text.find(" of rank ") != text.npos) return Cause::moved;
  if (!text.starts_with("rank ")) return Cause::unknown;
  if (text.find(" missing") != text.npos) return Cause::missing;
  if (text.find(" twice") != text.npos) return Cause::twice;
  return text.find(" shows ") != text.npos ? Cause::altered : Cause::unknown;
}

std::string in_words(const Finding& finding, const WrongElement& wrong) {
  switch (cause_of(finding, wrong)) {
    case Cause::unwritten:
      return "The element was not written: it holds what was there before the call.";
    case Cause::foreign:
      return "The value is not in the input of any rank.";
    case Cause::moved:
      return fmt::format("The value belongs elsewhere: it is {}.", printable(wrong.decoded));
    case Cause::missing:
    case Cause::twice:
    case Cause::altered: {
      std::string text;
      for (const std::string_view part : parts_of(wrong.decoded)) {
        text += (text.empty() ? "" : " ") + said(part);
      }
      return text;
    }
    case Cause::nan_lost:
    case Cause::subnormal_lost:
    case Cause::unknown:
      break;
  }
  return sentence_from(printable(wrong.decoded));
}

const WrongElement* telling_element(const Finding& finding) {
  const auto found =
      std::find_if(finding.wrong.begin(), finding.wrong.end(), [&](const WrongElement& each) {
        return cause_of(finding, each) != Cause::unknown;
      });
  return found == finding.wrong.end() ? nullptr : &*found;
}

std::vector<FailureGroup> group_failures(std::span<const Finding> findings) {
  return group_findings(findings, is_bad);
}

std::vector<FailureGroup> group_findings(std::span<const Finding> findings,
                                         bool (*is_shown)(const Finding&)) {
  std::map<Subject, GroupKey> direct;
  std::map<GroupKey, FailureGroup> groups;
  UnusualCells cells;
  // A failure against the reference explains those of properties that only compare results.
  for (const bool wants_relative : {false, true}) {
    for (const Finding& each : findings) {
      if (!is_shown(each) || is_relative(each) != wants_relative) continue;
      const std::string cell = cells.of(each);
      const Subject subject = subject_of(each, cell);
      GroupKey key = key_of(each, subject);
      if (!wants_relative) {
        direct.emplace(subject, key);
      } else if (const auto found = direct.find(subject); found != direct.end()) {
        key = found->second;
      }
      FailureGroup& group = groups[std::move(key)];
      group.findings.push_back(&each);
      group.cell = cell;
    }
  }
  std::vector<FailureGroup> out;
  out.reserve(groups.size());
  for (auto& [key, group] : groups) {
    std::stable_sort(group.findings.begin(),
                     group.findings.end(),
                     [](const auto* a, const auto* b) { return size_of(*a) < size_of(*b); });
    out.push_back(std::move(group));
  }
  // A failure against the reference explains more than one of another property, so it is first
  // among the failures of an algorithm on a backend.
  std::stable_sort(out.begin(), out.end(), [](const FailureGroup& a, const FailureGroup& b) {
    const Finding& first = *a.findings.front();
    const Finding& second = *b.findings.front();
    const auto place = [](const Finding& each) {
      return std::tuple(order_of(each.verdict),
                        std::string_view(each.unit.operation),
                        std::string_view(each.unit.algorithm),
                        std::string_view(each.unit.tested()),
                        is_relative(each));
    };
    return place(first) < place(second);
  });
  return out;
}

std::string_view what_happened(Verdict verdict) {
  constexpr std::array<std::string_view, verdict_names.size()> verbs{
      "passed",
      "failed",
      "failed in some runs only",
      "gave no answer",
      "ended while it was called",
      "was checked too little to pass",
      "was not checked",
      "could not be checked"};
  return verbs[spec::to_size(verdict)];
}

std::string sentence_of(const FailureGroup& group) {
  const Finding& finding = *group.findings.front();
  const Unit& unit = finding.unit;
  // A library of the user has one algorithm, with the name of the library. A finding about a whole
  // backend has a star.
  const bool is_said = unit.algorithm != unit.tested() && unit.algorithm != "*";
  const std::string who = fmt::format(
      "{}{}{}, on {}{}",
      shortened(unit.operation, name_bytes_max),
      group.cell.empty() ? "" : " of " + group.cell,
      is_said ? fmt::format(", algorithm {}", shortened(unit.algorithm, name_bytes_max)) : "",
      shortened(unit.tested(), name_bytes_max),
      unit.variant.empty() ? "" : fmt::format(" ({})", shortened(unit.variant, name_bytes_max)));
  if (finding.verdict == Verdict::flaky) {
    return fmt::format("{}, fails sometimes: in {} of {} repetitions of one case",
                       who,
                       finding.replays_failed,
                       finding.replays);
  }
  if (finding.verdict != Verdict::falsified) {
    return fmt::format("{}, {}", who, what_happened(finding.verdict));
  }
  if (finding.wrong_count == 0) {
    return fmt::format("{}, failed: {}", who, shortened(finding.reason, 240));
  }
  return fmt::format(
      "{}, gave {}", who, counted(finding.wrong_count, "wrong element", "wrong elements"));
}

std::string extent_of(const FailureGroup& group) {
  if (group.findings.size() < 2) return {};
  std::set<std::string> operations;
  std::set<std::string> algorithms;
  for (const Finding* each : group.findings) {
    operations.insert(shortened(each->unit.operation, name_bytes_max));
    algorithms.insert(each->unit.algorithm);
  }
  std::string units = counted(std::ssize(group.findings), "unit", "units");
  if (algorithms.size() > 1) units += fmt::format(" of {} algorithms", algorithms.size());
  if (operations.size() < 2) return units;
  constexpr std::size_t named_max = 12;
  return fmt::format(
      "{}{} {} operations: {}",
      units,
      algorithms.size() > 1 ? " and" : " of",
      operations.size(),
      first_of(std::vector<std::string>(operations.begin(), operations.end()), named_max));
}

std::string others_of(const FailureGroup& group) {
  if (group.findings.size() < 2) return {};
  return counted(std::ssize(group.findings) - 1, "more unit", "more units") +
         ", probably with this cause";
}

std::string line_of_cause(const FailureGroup& group) {
  const Finding& finding = *group.findings.front();
  std::string text = sentence_of(group);
  if (const WrongElement* const wrong = telling_element(finding); wrong != nullptr) {
    return text + ". " + in_words(finding, *wrong);
  }
  // A sentence without a number of wrong elements has the reason already.
  const bool has_reason = finding.verdict == Verdict::falsified && finding.wrong_count == 0;
  constexpr std::size_t bytes_max = 140;
  return has_reason ? text : text + ": " + shortened(finding.reason, bytes_max);
}

nlohmann::ordered_json to_json(const FailureGroup& group) {
  nlohmann::ordered_json out{{"line", line_of_cause(group)}};
  if (const std::string extent = extent_of(group); !extent.empty()) out["extent"] = extent;
  if (!group.cell.empty()) out["cell"] = group.cell;
  for (const Finding* each : group.findings) out["units"].push_back(each->unit.id());
  return out;
}

nlohmann::ordered_json causes_to_json(std::span<const Finding> findings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const FailureGroup& each : group_failures(findings)) out.push_back(to_json(each));
  const auto is_known = [](const Finding& each) { return each.is_known; };
  for (const FailureGroup& each : group_findings(findings, is_known)) {
    out.push_back(to_json(each));
    out.back()["is_known"] = true;
  }
  return out;
}

}  // namespace rankcheck::harness
