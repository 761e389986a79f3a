#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/case/fields.hpp"
#include "harness/compare/comparison.hpp"
#include "harness/report/report.hpp"
#include "harness/suite/suite_file.hpp"

#include "tests/harness/compare/sample_run.hpp"
#include "tests/harness/sample.hpp"
#include "tests/random.hpp"

namespace rankcheck::harness::compare {
namespace {

using nlohmann::ordered_json;
using tests::Random;

// This file has a row for each way in which one thing of a report can change: what the comparison
// says of it, and what it says of the reverse. The reports are read from files.

constexpr const char* projection = "frames/sim/crop/gather/1x2x8";
constexpr const char* second_link = "hardware/links/1-0 copy peer";

std::string one_of(Random& random, const std::vector<std::string>& values) {
  return values[random.below(values.size())];
}

Verdict any_verdict(Random& random) {
  return static_cast<Verdict>(random.below(verdict_names.size()));
}

Finding finding_of(const Unit& unit, Verdict verdict) {
  Finding finding;
  finding.unit = unit;
  finding.verdict = verdict;
  finding.cases = 10;
  finding.compared_bytes = 400;
  finding.ratio_max = unit.operation == "broadcast" ? 0 : 0.25;
  finding.power = {.elements = 9, .useful = 9, .smallest_change = 1e-3};
  finding.cells = {{"f32/sum", 3}, {"int8/sum", 1}};
  if (verdict == Verdict::skipped) finding.reason = name(SkipReason::backend_unavailable);
  if (!is_failure(verdict)) return finding;
  finding.reason = "differs";
  finding.minimal = sample_failure().minimal;
  return finding;
}

/// `id` is one of sample_run.hpp.
Unit unit_of(const std::string& id) {
  Unit unit = unit_named(id);
  unit.require_all_cells = id != law;
  return unit;
}

Finding random_finding(Random& random) {
  Unit unit;
  unit.operation = one_of(random, {"all_reduce", "broadcast", "crop"});
  unit.algorithm = one_of(random, {"ring", "tree"});
  unit.backend = one_of(random, {"sim", "mpi"});
  unit.property = one_of(random, {"agrees_with_reference", "repeats"});
  // Most units pass.
  const bool passes = random.below(2) == 0;
  Finding finding = finding_of(unit, passes ? Verdict::passed : any_verdict(random));
  if (finding.verdict != Verdict::passed)
    finding.reason = "reason " + std::to_string(random.below(3));
  finding.cases = 1 + static_cast<std::int64_t>(random.below(100));
  finding.ratio_max = static_cast<double>(random.below(4)) / 4;
  finding.is_known = is_failure(finding.verdict) && random.below(4) == 0;
  return finding;
}

/// The files of a run, by their names: the units of sample_run(), measurements, and what a gate for
/// hardware says.
ordered_json sample_files() {
  Report report;
  report.run = {{"suites", {"smoke"}}, {"seed", 1}};
  for (const char* each : {ring, law, tree, other}) {
    report.findings.push_back(finding_of(unit_of(each), Verdict::passed));
  }
  report.findings.push_back(finding_of(unit_of(failing), Verdict::falsified));
  report.findings.push_back(finding_of(unit_of(skipped), Verdict::skipped));
  report.environment = ordered_json::parse(R"({
    "rankcheck": "1", "started": "2026-01-01T00:00:00Z", "jobs": 2, "host": "a",
    "backends": {"mpi": {"versions": {"mpi": "Open MPI 4.1.4"}},
                 "cuda": {"versions": {"nvidia_driver": "580.1", "cuda": "13.0"}}},
    "hardware": {
      "doctor": {"backends": [{"name": "cuda", "devices": [{"name": "H100"}]}]},
      "devices": [{"device": 0, "verdict": "passed", "reason": ""},
                  {"device": 1, "verdict": "passed", "reason": ""}],
      "links": [{"from": 0, "to": 1, "method": "copy", "way": "peer", "verdict": "passed",
                 "reason": "", "exposure": {"bytes_of_copy": 1048576},
                 "copy_s": [1e-3, 1.1e-3, 1.2e-3]},
                {"from": 1, "to": 0, "method": "copy", "way": "peer", "verdict": "passed",
                 "reason": "", "exposure": {"bytes_of_copy": 1048576},
                 "copy_s": [1e-3, 1.1e-3, 1.2e-3]}],
      "phases": [{"name": "cuda", "verdict": "passed", "reason": ""},
                 {"name": "soak", "verdict": "passed", "reason": ""}]}})");
  for (const Finding& each : report.findings) {
    report.environment["durations_s"][each.unit.id()] = 0.5;
  }
  ordered_json files{{"report", to_json(report)}};
  files["report"]["known"] = ordered_json::array({{{"id", "max"}, {"state", "failing"}}});
  files["bench"] = {{"context", {{"date", "today"}, {"num_cpus", 2}}},
                    {"benchmarks", ordered_json::array()}};
  for (const char* name : {large, projection}) {
    for (const double ratio : {2.0, 2.1, 2.2}) {
      files["bench"]["benchmarks"].push_back({{"name", std::string(name) + "/manual_time"},
                                              {"run_type", "iteration"},
                                              {"real_time", 1.0},
                                              {"time_unit", "ms"},
                                              {"floor_ratio", ratio}});
    }
  }
  return files;
}

/// The sample with more units around it.
ordered_json random_files(Random& random) {
  ordered_json files = sample_files();
  ordered_json& durations = files["report"]["environment"]["durations_s"];
  for (std::size_t i = 0; i < 4 + random.below(12); ++i) {
    const Finding finding = random_finding(random);
    const std::string id = finding.unit.id();
    if (durations.contains(id)) continue;
    files["report"]["findings"].push_back(to_json(finding));
    durations[id] = 0.5;
  }
  return files;
}

/// The kind of a change and the kind of its reverse, which most often are the same.
struct Kinds {
  Kind forward;
  Kind reverse = forward;
};

/// Places in the report, see pointer_to(), and their new values as JSON. No value removes it.
using Edits = std::vector<std::pair<std::string, std::string>>;

/// One thing that changes in a report: what the comparison says of it, and what of the reverse.
struct SingleChange {
  std::string name;
  /// The unit that changes, or another place.
  std::string place;
  Kinds kinds;
  Edits edits;
  /// How it was and how it is. Not compared if they are empty.
  std::string before = {};
  std::string now = {};
  /// What the change and the reverse name, if it is not the place.
  std::string what = {};
  std::string reverse_what = {};
};

/// Returns where a place is in the files: "ring/cases" is in the finding of `ring`, "gate/links" in
/// what the gate says, and "bench/context" in the measurements.
ordered_json::json_pointer pointer_to(const std::string& place) {
  static const std::map<std::string, std::string> starts{{"ring", "/report/findings/0"},
                                                         {"law", "/report/findings/1"},
                                                         {"tree", "/report/findings/2"},
                                                         {"other", "/report/findings/3"},
                                                         {"failing", "/report/findings/4"},
                                                         {"skipped", "/report/findings/5"},
                                                         {"gate", "/report/environment/hardware"},
                                                         {"bench", "/bench"}};
  const std::size_t end = std::min(place.find('/'), place.size());
  const auto start = starts.find(place.substr(0, end));
  return ordered_json::json_pointer(start == starts.end() ? "/report/" + place
                                                          : start->second + place.substr(end));
}

void edit(ordered_json& files, const Edits& edits) {
  for (const auto& [place, value] : edits) {
    const ordered_json::json_pointer pointer = pointer_to(place);
    if (!value.empty()) {
      files[pointer] = ordered_json::parse(value);
    } else if (ordered_json& parent = files[pointer.parent_pointer()]; parent.is_array()) {
      parent.erase(std::stoul(pointer.back()));
    } else {
      parent.erase(pointer.back());
    }
  }
}

constexpr Kinds broken{Kind::newly_broken, Kind::mended};
constexpr Kinds repaired{Kind::mended, Kind::newly_broken};
constexpr Kinds lost{Kind::coverage_lost, Kind::coverage_gained};
constexpr Kinds gained{Kind::coverage_gained, Kind::coverage_lost};
constexpr Kinds less_accurate{Kind::accuracy_lost, Kind::accuracy_gained};
constexpr Kinds blinder{Kind::power_lost, Kind::power_gained};
constexpr Kinds slower{Kind::speed_lost, Kind::speed_gained};

/// An edit of a unit's verdict.
Edits to(const std::string& now, const std::string& unit) {
  return {{unit + "/verdict", '"' + now + '"'}};
}

std::vector<SingleChange> changes_of_verdicts() {
  using enum Kind;
  const std::string of_cuda = "*/*/cuda";
  const Kinds runs_now{newly_broken, coverage_lost};
  const Kinds stops{coverage_lost, newly_broken};
  const Edits as_known{{"ring/verdict", "\"falsified\""}, {"ring/is_known", "true"}};
  return {
      {"broken", ring, broken, to("falsified", "ring")},
      {"flaky", ring, {flaky}, to("flaky", "ring")},
      {"flaky_not_wrong", failing, {flaky, still_broken}, to("flaky", "failing")},
      {"mended", failing, repaired, to("passed", "failing")},
      {"not_skipped", skipped, runs_now, to("crashed", "skipped"), "", "", skipped, of_cuda},
      {"runs_now", skipped, gained, to("passed", "skipped"), "", "", of_cuda, of_cuda},
      {"no_backend", failing, stops, to("skipped", "failing"), "", "", "*/*/mpi", failing},
      {"vacuous", law, lost, to("vacuous", "law")},
      {"errored", law, lost, to("errored", "law")},
      {"reason", failing, {still_broken}, {{"failing/reason", "\"another\""}}},
      {"why_skipped", skipped, {not_judged}, {{"skipped/reason", "\"no_device\""}}},
      {"known_failure", failing, {still_broken, newly_broken}, {{"failing/is_known", "true"}}},
      {"failing_only_as_known", ring, broken, as_known},
  };
}

std::vector<SingleChange> changes_of_units() {
  using enum Kind;
  const std::string of_tree = "all_reduce/tree/sim";
  const std::string of_ring = "all_reduce/ring/sim";
  const std::string of_other = "broadcast/*/sim";
  const std::string one = "1 judged unit";
  const std::string none = "not in this run";
  const std::string duration_of_ring =
      "environment/durations_s/all_reduce~1ring~1sim~1agrees_with_reference";
  const Edits asked{{"ring/unit/cases", "200"}, {"ring/unit/types", R"(["f32"])"}};
  const std::string now = R"(cases 200, types ["f32"])";
  return {
      {"unit_gone", law, lost, {{"law", ""}}, one, none},
      {"algorithm_gone", tree, lost, {{"tree", ""}}, one, none, of_tree, of_tree},
      {"operation_gone", other, lost, {{"other", ""}}, one, none, of_other, of_other},
      {"never_ran_and_gone", skipped, {not_judged}, {{"skipped", ""}}},
      {"cell_gone", ring, lost, {{"ring/cells/f32~1sum", ""}}},
      {"cell_more", ring, gained, {{"ring/cells/f64~1sum", "1"}}},
      {"fewer_cases", ring, lost, {{"ring/cases", "3"}}},
      {"fewer_of_all", of_ring, lost, {{"ring/cases", "5"}, {"law/cases", "5"}}},
      {"larger_error", ring, less_accurate, {{"ring/ratio_max", "0.5"}}},
      {"not_exact", other, less_accurate, {{"other/ratio_max", "0.1"}}},
      {"blinder", ring, blinder, {{"ring/power/smallest_change", "0.1"}}},
      {"powerless_case", ring, blinder, {{"ring/powerless_cases", "1"}}},
      {"takes_longer", ring, {duration}, {{duration_of_ring, "9"}}},
      {"options_of_a_unit", ring, {options}, asked, "cases 100, no types", now},
  };
}

std::vector<SingleChange> changes_of_measurements() {
  const std::string measured = std::string("bench/") + large;
  const std::string first = "bench/benchmarks/0";
  const std::string failed = R"({"name": ")" + std::string(large) +
                             R"(", "error_occurred": true, "error_message": "no device"})";
  const std::string was = "2.1 times the floor (2 to 2.2)";
  const std::string is = "4.2 times the floor (4 to 4.4)";
  const Edits gone(3, {first, ""});
  const Edits fails{{first, ""}, {first, ""}, {first, failed}};
  Edits longer;
  for (const auto& [i, ratio] : {std::pair(0, "4"), std::pair(1, "4.2"), std::pair(2, "4.4")}) {
    longer.emplace_back(fmt::format("bench/benchmarks/{}/floor_ratio", i), ratio);
  }
  return {
      {"slower", measured, slower, longer, was, is},
      {"measurement_gone", measured, lost, gone},
      {"measurement_failed", measured, lost, fails, was, "no device"},
      {"all_gone", "bench", lost, {{"bench", "null"}}, "2 measurements", "not in this run"},
      {"processors", "bench.num_cpus", {Kind::version}, {{"bench/context/num_cpus", "64"}}},
  };
}

std::vector<SingleChange> changes_of_circumstances() {
  using enum Kind;
  const std::string mpi = "environment/backends/mpi";
  const std::string driver = "environment/backends/cuda/versions/nvidia_driver";
  return {
      {"known_passes", "known.max", {known}, {{"known/0/state", "\"passing\""}}},
      {"another_seed", "run.seed", {options}, {{"run/seed", "2"}}},
      {"new_option", "run.cases", {options}, {{"run/cases", "7"}}},
      {"option_gone", "run.suites", {options}, {{"run/suites", ""}}},
      {"quick", "run.quick", {options}, {{"run/quick", "true"}}},
      {"ended_early", "ending", {options}, {{"ending", "\"time_over\""}}},
      {"host", "host", {version}, {{"environment/host", "\"b\""}}},
      {"commit", "commit", {version}, {{"environment/commit", "\"abc\""}}},
      {"rankcheck", "rankcheck", {version}, {{"environment/rankcheck", "\"2\""}}},
      {"library", "backends.mpi.versions.mpi", {version}, {{mpi + "/versions/mpi", "\"M\""}}},
      {"backend_gone", "backends.mpi", {version}, {{mpi, ""}}},
      {"driver", "backends.cuda.versions.nvidia_driver", {version}, {{driver, "\"590\""}}},
  };
}

/// Changes of what a gate for hardware says.
std::vector<SingleChange> changes_of_a_gate() {
  using enum Kind;
  const std::string doctor = "doctor.backends.cuda.";
  const std::string cuda = "gate/doctor/backends/0/";
  const std::string times = "gate/links/1/copy_s";
  const std::string was = "0.953 GB/s (0.874 to 1.05)";
  std::vector<SingleChange> all{
      {"device", doctor + "devices.H100.memory", {version}, {{cuda + "devices/0/memory", "80"}}},
      {"versions_of_the_doctor", doctor + "versions", {version}, {{cuda + "versions", R"("535")"}}},
      {"bandwidth", second_link, slower, {{times, "[4e-3, 4.1e-3, 4.2e-3]"}}},
      {"no_bandwidth", second_link, lost, {{times, ""}}, was, "no bandwidth"},
  };
  for (const auto& [list, place] : {std::pair("devices", "hardware/devices/1"),
                                    std::pair("links", second_link),
                                    std::pair("phases", "hardware/phases/soak")}) {
    for (const Verdict now : {Verdict::falsified, Verdict::skipped, Verdict::errored}) {
      const std::string word(name(now));
      all.push_back({fmt::format("{}_{}", list, word),
                     place,
                     is_failure(now) ? broken : lost,
                     to(word, fmt::format("gate/{}/1", list))});
    }
  }
  return all;
}

/// Places whose changes reports/README.md names as not compared, and new values. "each/" stands for
/// every finding.
const Edits edits_without_meaning{
    {"each/compared_bytes", "12345"},
    {"each/ranks_max", "7"},
    {"each/shrinks", "9"},
    {"each/original", R"({"operation":"crop","ranks":2})"},
    {"each/steps", R"(["ranks 2 -> 1"])"},
    {"each/minimal", R"({"operation":"crop","ranks":1})"},
    {"each/cells/f32~1sum", "99"},
    {"environment/started", R"("later")"},
    {"environment/jobs", "9"},
    {"gate/links/1/exposure/bytes_of_copy", "7"},
    {"total", "0"},
};

/// What a mutation changed: a unit's id or a place. Empty if the comparison should say nothing.
using Place = std::string;

/// Changes finding number `i` in one respect, or adds one. Chance has a part in it.
using Mutation = Place (*)(ordered_json& findings, std::size_t i, Random& random);

const std::map<std::string, Mutation> mutations_of_any_unit{
    {"verdict",
     [](ordered_json& findings, std::size_t i, Random& random) {
       const ordered_json old = findings[i]["verdict"];
       while (findings[i]["verdict"] == old) findings[i]["verdict"] = name(any_verdict(random));
       return findings[i]["id"].get<Place>();
     }},
    {"reason",
     [](ordered_json& findings, std::size_t i, Random&) {
       findings[i]["reason"] = "another one";
       return findings[i]["verdict"] == "passed" ? Place() : findings[i]["id"].get<Place>();
     }},
    {"gone",
     [](ordered_json& findings, std::size_t i, Random&) {
       Place place = findings[i]["id"];
       findings.erase(i);
       return place;
     }},
    {"new",
     [](ordered_json& findings, std::size_t, Random& random) {
       Finding finding = random_finding(random);
       finding.unit.property = "new";
       findings.push_back(to_json(finding));
       return finding.unit.id();
     }},
    {"known_failure",
     [](ordered_json& findings, std::size_t i, Random&) {
       findings[i]["is_known"] = !findings[i].value("is_known", false);
       Verdict verdict{};
       read_value(findings[i]["verdict"], verdict);
       return is_failure(verdict) ? findings[i]["id"].get<Place>() : Place();
     }},
};

/// Whether the text names the unit: by its id, or as a group with "*".
bool names(const std::string& what, const RunFinding& unit) {
  return what == unit.id ||
         matches(what, unit.operation + '/' + unit.algorithm + '/' + unit.tested);
}

/// The word of --fail-on for which a kind counts. Other kinds make nothing worse.
const std::map<Kind, FailOn> words_of_kinds{{Kind::newly_broken, FailOn::broken},
                                            {Kind::coverage_lost, FailOn::coverage},
                                            {Kind::power_lost, FailOn::coverage},
                                            {Kind::accuracy_lost, FailOn::accuracy},
                                            {Kind::speed_lost, FailOn::speed}};

RunReport read(const ordered_json& files) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "report.json") << files["report"];
  if (!files["bench"].is_null()) std::ofstream(folder.path() / "bench.json") << files["bench"];
  return read_run_report(folder.path());
}

/// Returns the changes without the units that fail as before.
std::vector<Change> changes_of(const RunReport& before, const RunReport& now) {
  std::vector<Change> changes = compare::compare(before, now).changes;
  std::erase_if(changes, [](const Change& each) { return each.is_as_before(); });
  return changes;
}

/// Says what is wrong with the changes if the only one should be at this place, and of this kind.
std::string why_wrong(const RunReport& before,
                      const RunReport& now,
                      const Place& place,
                      std::optional<Kind> kind = {}) {
  const std::vector<Change> changes = changes_of(before, now);
  const std::string named = lines_of(changes);
  if (changes.size() != (place.empty() ? 0U : 1U)) return "got: " + named;
  if (kind && changes.front().kind != *kind) return "another kind: " + named;
  if (place.empty() || changes.front().what == place) return {};
  // A group stands for the unit if it holds no other one that the other run judged.
  for (const RunReport* run : {&before, &now}) {
    const auto found = run->findings.find(place);
    if (found != run->findings.end() && !names(changes.front().what, found->second)) {
      return "another place: " + named;
    }
  }
  const RunReport& other = changes.front().kind == Kind::coverage_gained ? before : now;
  for (const auto& [id, each] : other.findings) {
    if (id != place && is_judged(each.verdict) && names(changes.front().what, each)) {
      return "more than the change: " + named;
    }
  }
  return {};
}

/// Requires that the change counts for the word of its kind and for no other.
void expect_counts(const Comparison& comparison, Kind kind) {
  // Whether something flaky counts depends on what was before; ComparisonTest has that.
  if (kind == Kind::flaky) return;
  const auto counts_for = words_of_kinds.find(kind);
  for (std::size_t i = 0; i < fail_on_names.size(); ++i) {
    const auto word = static_cast<FailOn>(i);
    EXPECT_EQ(is_worse(comparison, {word}),
              counts_for != words_of_kinds.end() && counts_for->second == word)
        << name(kind) << ": --fail-on " << fail_on_names[i];
  }
}

/// A random report, which each row changes.
struct Start {
  explicit Start(std::uint64_t seed)
      : random(seed), files(random_files(random)), run(read(files)) {}

  Random random;
  ordered_json files;
  RunReport run;
};

std::span<const Start> random_starts() {
  static const std::vector<Start> starts = [] {
    std::vector<Start> all;
    for (std::uint64_t seed = 0; seed < 20; ++seed) all.emplace_back(seed);
    return all;
  }();
  return starts;
}

class SingleChangeTest : public testing::TestWithParam<SingleChange> {};

TEST_P(SingleChangeTest, IsNamedAndOnlyIt) {
  const SingleChange& row = GetParam();
  const auto line = [&](Kind kind, const std::string& what) {
    return std::string(name(kind)) + ' ' + (what.empty() ? row.place : what) + '\n';
  };
  ordered_json files = sample_files();
  const RunReport before = read(files);
  EXPECT_EQ(why_wrong(before, before, ""), "") << "a run against itself";
  edit(files, row.edits);
  const RunReport now = read(files);
  const std::vector<Change> changes = changes_of(before, now);
  ASSERT_EQ(lines_of(changes), line(row.kinds.forward, row.what));
  EXPECT_EQ(lines_of(changes_of(now, before)), line(row.kinds.reverse, row.reverse_what));
  if (!row.before.empty()) {
    EXPECT_EQ(changes.front().before, row.before);
    EXPECT_EQ(changes.front().now, row.now);
  }
  const bool is_known = changes.front().now.starts_with("falsified as known");
  if (!is_known) expect_counts(compare(before, now), row.kinds.forward);
  expect_counts(compare(now, before), row.kinds.reverse);
}

TEST_P(SingleChangeTest, IsNamedAmongOtherUnits) {
  const SingleChange& row = GetParam();
  for (const Start& start : random_starts().first(10)) {
    ordered_json files = start.files;
    edit(files, row.edits);
    const RunReport now = read(files);
    EXPECT_EQ(why_wrong(start.run, now, row.place, row.kinds.forward), "");
    EXPECT_EQ(why_wrong(now, start.run, row.place, row.kinds.reverse), "") << "reversed";
  }
}

std::vector<SingleChange> single_changes() {
  std::vector<SingleChange> all;
  for (const auto& some : {changes_of_verdicts(),
                           changes_of_units(),
                           changes_of_measurements(),
                           changes_of_circumstances(),
                           changes_of_a_gate()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Changes,
                         SingleChangeTest,
                         testing::ValuesIn(single_changes()),
                         [](const auto& each) { return each.param.name; });

/// A kind that no row has would go untested.
TEST(SingleChangesTest, HaveEveryKind) {
  std::set<Kind> kinds;
  for (const SingleChange& each : single_changes()) {
    kinds.insert({each.kinds.forward, each.kinds.reverse});
  }
  EXPECT_EQ(kinds.size(), compare::kinds.size());
}

TEST(RandomReportsTest, NameAnyChangeOfAUnitAndOnlyIt) {
  for (const auto& [name, mutate] : mutations_of_any_unit) {
    for (const Start& start : random_starts()) {
      ordered_json files = start.files;
      Random random = start.random;
      ordered_json& findings = files["report"]["findings"];
      const Place place = mutate(findings, random.below(findings.size()), random);
      const RunReport now = read(files);
      EXPECT_EQ(why_wrong(start.run, now, place), "") << name << ": " << place;
      EXPECT_EQ(why_wrong(now, start.run, place), "") << name << ": " << place << ", reversed";
    }
  }
}

TEST(RandomReportsTest, HaveNoChangeAgainstThemselves) {
  for (const Start& start : random_starts()) EXPECT_EQ(why_wrong(start.run, start.run, ""), "");
}

TEST(RandomReportsTest, HaveNoChangeWhereNothingIsCompared) {
  const std::string each = "each/";
  for (const auto& [place, value] : edits_without_meaning) {
    for (const Start& start : random_starts()) {
      ordered_json files = start.files;
      if (place.starts_with(each)) {
        for (std::size_t i = 0; i < files["report"]["findings"].size(); ++i) {
          edit(files, {{fmt::format("findings/{}/{}", i, place.substr(each.size())), value}});
        }
      } else {
        edit(files, {{place, value}});
      }
      const RunReport now = read(files);
      EXPECT_EQ(why_wrong(start.run, now, ""), "") << place;
      EXPECT_EQ(why_wrong(now, start.run, ""), "") << place << ", reversed";
    }
  }
}

}  // namespace
}  // namespace rankcheck::harness::compare
