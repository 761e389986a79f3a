#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/compare/comparison.hpp"
#include "harness/report.hpp"
#include "harness/suite_file.hpp"

#include "tests/harness/sample.hpp"
#include "tests/random.hpp"

namespace rankcheck::harness::compare {
namespace {

using nlohmann::ordered_json;
using tests::Random;

template <class Value>
const Value& one_of(Random& random, const std::vector<Value>& values) {
  return values[random.below(values.size())];
}

const std::vector<Verdict> all_verdicts{Verdict::passed,
                                        Verdict::falsified,
                                        Verdict::flaky,
                                        Verdict::hung,
                                        Verdict::crashed,
                                        Verdict::vacuous,
                                        Verdict::skipped,
                                        Verdict::errored};

Finding random_finding(Random& random) {
  Finding finding;
  finding.unit.operation = one_of<std::string>(random, {"all_reduce", "broadcast", "crop"});
  finding.unit.algorithm = one_of<std::string>(random, {"ring", "tree"});
  finding.unit.backend = one_of<std::string>(random, {"sim", "mpi"});
  finding.unit.property = one_of<std::string>(random, {"agrees_with_reference", "repeats"});
  // Most units pass.
  const bool passes = random.below(2) == 0;
  finding.verdict = passes ? Verdict::passed : one_of(random, all_verdicts);
  if (finding.verdict != Verdict::passed)
    finding.reason = "reason " + std::to_string(random.below(3));
  finding.cases = 1 + static_cast<std::int64_t>(random.below(100));
  finding.compared_bytes = 4 * finding.cases;
  finding.ratio_max = static_cast<double>(random.below(4)) / 4;
  finding.power = {.elements = 9, .useful = 9, .smallest_change = 1e-3};
  finding.cells = {{"f32/sum", 3}, {"int8/max", 1}};
  if (!is_failure(finding.verdict)) return finding;
  finding.minimal = sample_failure().minimal;
  finding.is_known = random.below(4) == 0;
  return finding;
}

/// A report as it is on disk, with its measurements.
struct Files {
  ordered_json report;
  ordered_json bench;
};

ordered_json measurement(const std::string& name, double ratio) {
  return {{"name", name + "/manual_time"},
          {"run_type", "iteration"},
          {"real_time", 1.0},
          {"time_unit", "ms"},
          {"floor_ratio", ratio}};
}

/// What the gate for hardware adds to the environment.
ordered_json gate_of_two_devices() {
  ordered_json gate{
      {"doctor", {{"backends", {{{"name", "cuda"}, {"devices", {{{"name", "H100"}}}}}}}}},
      {"devices", ordered_json::array()},
      {"links", ordered_json::array()},
      {"phases", ordered_json::array()}};
  for (const int device : {0, 1}) {
    gate["devices"].push_back({{"device", device}, {"verdict", "passed"}, {"reason", ""}});
    gate["links"].push_back({{"from", device},
                             {"to", 1 - device},
                             {"method", "copy"},
                             {"way", "peer"},
                             {"verdict", "passed"},
                             {"reason", ""},
                             {"exposure", {{"bytes_of_copy", 1 << 20}}},
                             {"copy_s", {1e-3, 1.1e-3, 1.2e-3}}});
  }
  for (const char* phase : {"cuda", "soak"}) {
    gate["phases"].push_back({{"name", phase}, {"verdict", "passed"}, {"reason", ""}});
  }
  return gate;
}

Files random_files(Random& random) {
  Report report;
  report.run = {{"suites", {"smoke"}}, {"seed", 1}};
  std::set<std::string> ids;
  for (std::size_t i = 0; i < 4 + random.below(12); ++i) {
    Finding finding = random_finding(random);
    if (ids.insert(finding.unit.id()).second) report.findings.push_back(std::move(finding));
  }
  // Runs without anything in common cannot be compared, whatever is removed.
  report.findings.push_back(sample_finding("barrier", Verdict::passed));
  report.findings.push_back(sample_finding("gather", Verdict::passed));
  report.environment = {
      {"rankcheck", "1"},
      {"started", "2026-01-01T00:00:00Z"},
      {"jobs", 2},
      {"host", "a"},
      {"backends",
       {{"mpi", {{"versions", {{"mpi", "Open MPI 4.1.4"}}}}},
        {"cuda", {{"versions", {{"nvidia_driver", "580.1"}, {"cuda", "13.0"}}}}}}},
      {"hardware", gate_of_two_devices()}};
  for (const Finding& each : report.findings) {
    report.environment["durations_s"][each.unit.id()] = 0.5;
  }
  Files files{.report = to_json(report), .bench = {}};
  files.report["known"] = ordered_json::array({{{"id", "max"}, {"state", "failing"}}});
  files.bench = {{"context", {{"date", "today"}, {"num_cpus", 2}}},
                 {"benchmarks", ordered_json::array()}};
  for (const char* name : {"large/sim/all_reduce/ring/8x64", "frames/sim/crop/gather/1x2x8"}) {
    for (const double ratio : {2.0, 2.1, 2.2}) {
      files.bench["benchmarks"].push_back(measurement(name, ratio));
    }
  }
  return files;
}

/// What a mutation changed: a unit's id or a place. Empty if the comparison should say nothing.
using Place = std::string;

struct Mutation {
  const char* name;
  /// Changes the files in one respect.
  std::function<Place(Files&, Random&)> make;
};

ordered_json& some_finding(Files& files, Random& random) {
  auto& findings = files.report["findings"];
  return findings[random.below(findings.size())];
}

/// Finds a unit that passed. The report has at least two.
ordered_json& some_passed(Files& files, Random& random) {
  while (true) {
    ordered_json& finding = some_finding(files, random);
    if (finding["verdict"] == "passed") return finding;
  }
}

/// Finds a unit that failed, or else makes one of another.
ordered_json& some_other(Files& files, Random& random) {
  for (ordered_json& each : files.report["findings"]) {
    if (each["verdict"] != "passed") return each;
  }
  return some_finding(files, random);
}

Place with(ordered_json& finding, const char* field, const ordered_json& value) {
  finding[field] = value;
  return finding["id"];
}

std::vector<Mutation> mutations_of_verdicts() {
  return {
      {"verdict",
       [](Files& files, Random& random) {
         ordered_json& finding = some_finding(files, random);
         const ordered_json old = finding["verdict"];
         while (finding["verdict"] == old) finding["verdict"] = name(one_of(random, all_verdicts));
         return finding["id"].get<Place>();
       }},
      {"reason",
       [](Files& files, Random& random) {
         ordered_json& finding = some_other(files, random);
         const Place place = with(finding, "reason", "another one");
         return finding["verdict"] == "passed" ? "" : place;
       }},
      {"gone",
       [](Files& files, Random& random) {
         auto& findings = files.report["findings"];
         const std::size_t which = random.below(findings.size());
         Place place = findings[which]["id"];
         findings.erase(which);
         return place;
       }},
      {"new",
       [](Files& files, Random& random) {
         Finding finding = random_finding(random);
         finding.unit.property = "new";
         files.report["findings"].push_back(to_json(finding));
         return finding.unit.id();
       }},
  };
}

std::vector<Mutation> mutations_of_numbers() {
  return {
      {"cases",
       [](Files& files, Random& random) {
         ordered_json& finding = some_passed(files, random);
         return with(
             finding, "cases", finding["cases"].get<int>() + (random.below(2) == 0 ? 1 : -1));
       }},
      {"ratio",
       [](Files& files, Random& random) {
         ordered_json& finding = some_passed(files, random);
         return with(finding, "ratio_max", finding["ratio_max"].get<double>() * 3 + 0.1);
       }},
      {"cell_gone",
       [](Files& files, Random& random) {
         ordered_json& finding = some_passed(files, random);
         finding["cells"].erase("f32/sum");
         return finding["id"].get<Place>();
       }},
      {"cell_new",
       [](Files& files, Random& random) {
         ordered_json& finding = some_passed(files, random);
         finding["cells"]["f64/sum"] = 1;
         return finding["id"].get<Place>();
       }},
      {"power",
       [](Files& files, Random& random) {
         return with(some_passed(files, random), "powerless_cases", 1);
       }},
      {"option",
       [](Files& files, Random& random) {
         ordered_json& finding = some_finding(files, random);
         finding["unit"]["ranks"] = {2, 5};
         return finding["id"].get<Place>();
       }},
      {"known_failure",
       [](Files& files, Random& random) {
         ordered_json& finding = some_other(files, random);
         const bool is_known = finding.value("is_known", false);
         const Place place = with(finding, "is_known", !is_known);
         return is_failure(*verdict_named(finding["verdict"].get<std::string>())) ? place : "";
       }},
      {"duration",
       [](Files& files, Random& random) {
         Place place = some_finding(files, random)["id"];
         files.report["environment"]["durations_s"][place] = 3;
         return place;
       }},
  };
}

std::vector<Mutation> mutations_of_the_rest() {
  const auto environment = [](const char* field, const ordered_json& value) {
    return [=](Files& files, Random&) {
      files.report["environment"][field] = value;
      return Place(field);
    };
  };
  return {
      {"seed",
       [](Files& files, Random&) {
         files.report["run"]["seed"] = 2;
         return Place("run.seed");
       }},
      {"new_option",
       [](Files& files, Random&) {
         files.report["run"]["cases"] = 7;
         return Place("run.cases");
       }},
      {"option_gone",
       [](Files& files, Random&) {
         files.report["run"].erase("suites");
         return Place("run.suites");
       }},
      {"ending",
       [](Files& files, Random&) {
         files.report["ending"] = "killed";
         return Place("ending");
       }},
      {"host", environment("host", "b")},
      {"commit", environment("commit", "abc")},
      {"library",
       [](Files& files, Random&) {
         files.report["environment"]["backends"]["mpi"]["versions"]["mpi"] = "MPICH 4.0.2";
         return Place("backends.mpi.versions.mpi");
       }},
      {"backend_gone",
       [](Files& files, Random&) {
         files.report["environment"]["backends"].erase("mpi");
         return Place("backends.mpi");
       }},
      {"known_state",
       [](Files& files, Random&) {
         files.report["known"][0]["state"] = "passing";
         return Place("known.max");
       }},
      {"speed",
       [](Files& files, Random& random) {
         const double factor = random.below(2) == 0 ? 2 : 0.5;
         for (std::size_t i = 0; i < 3; ++i) {
           ordered_json& ratio = files.bench["benchmarks"][i]["floor_ratio"];
           ratio = ratio.get<double>() * factor;
         }
         return Place("bench/large/sim/all_reduce/ring/8x64");
       }},
      {"measurement_new",
       [](Files& files, Random&) {
         files.bench["benchmarks"].push_back(measurement("cases/sim", 1));
         return Place("bench/cases/sim");
       }},
      {"processors",
       [](Files& files, Random&) {
         files.bench["context"]["num_cpus"] = 3;
         return Place("bench.num_cpus");
       }},
  };
}

/// Changes of what a gate for hardware says.
std::vector<Mutation> mutations_of_a_gate() {
  const auto part = [](const char* list, const Place& place) {
    return [=](Files& files, Random& random) {
      ordered_json& entry = files.report["environment"]["hardware"][list][1];
      entry["verdict"] = name(one_of(
          random, std::vector<Verdict>{Verdict::falsified, Verdict::skipped, Verdict::errored}));
      return place;
    };
  };
  return {
      {"driver",
       [](Files& files, Random&) {
         files.report["environment"]["backends"]["cuda"]["versions"]["nvidia_driver"] = "590.2";
         return Place("backends.cuda.versions.nvidia_driver");
       }},
      {"device",
       [](Files& files, Random&) {
         ordered_json& doctor = files.report["environment"]["hardware"]["doctor"];
         doctor["backends"][0]["devices"][0]["memory"] = "80 GB";
         return Place("doctor.backends.cuda.devices.H100.memory");
       }},
      {"gate_device", part("devices", "hardware/devices/1")},
      {"gate_link", part("links", "hardware/links/1-0 copy peer")},
      {"gate_phase", part("phases", "hardware/phases/soak")},
      {"quick",
       [](Files& files, Random&) {
         files.report["run"]["quick"] = true;
         return Place("run.quick");
       }},
      {"gate_bandwidth",
       [](Files& files, Random&) {
         ordered_json& link = files.report["environment"]["hardware"]["links"][1];
         link["copy_s"] = {4e-3, 4.1e-3, 4.2e-3};
         return Place("hardware/links/1-0 copy peer");
       }},
  };
}

/// Changes that reports/README.md names as not compared.
std::vector<Mutation> mutations_without_meaning() {
  const auto finding = [](const char* field, const ordered_json& value) {
    return [=](Files& files, Random& random) {
      some_finding(files, random)[field] = value;
      return Place();
    };
  };
  const auto environment = [](const char* field, const ordered_json& value) {
    return [=](Files& files, Random&) {
      files.report["environment"][field] = value;
      return Place();
    };
  };
  return {
      {"bytes", finding("compared_bytes", 12345)},
      {"ranks", finding("ranks_max", 7)},
      {"shrinks", finding("shrinks", 9)},
      {"original", finding("original", {{"operation", "crop"}, {"ranks", 2}})},
      {"steps", finding("steps", {"ranks 2 -> 1"})},
      {"minimal", finding("minimal", {{"operation", "crop"}, {"ranks", 1}})},
      {"started", environment("started", "later")},
      {"jobs", environment("jobs", 9)},
      {"count_of_a_cell",
       [](Files& files, Random& random) {
         some_finding(files, random)["cells"]["f32/sum"] = 99;
         return Place();
       }},
      {"bytes_of_a_link",
       [](Files& files, Random&) {
         ordered_json& link = files.report["environment"]["hardware"]["links"][1];
         link["exposure"]["bytes_of_copy"] = 7;
         return Place();
       }},
      {"total",
       [](Files& files, Random&) {
         files.report["total"] = 0;
         return Place();
       }},
  };
}

/// Whether the text names the unit: by its id, or as a group with "*".
bool names(const std::string& what, const RunFinding& unit) {
  return what == unit.id ||
         matches(what, unit.operation + '/' + unit.algorithm + '/' + unit.tested);
}

class AnyChangeTest : public testing::TestWithParam<Mutation> {
 protected:
  RunReport read(const Files& files) {
    std::ofstream(folder_.path() / "report.json") << files.report;
    std::ofstream(folder_.path() / "bench.json") << files.bench;
    return read_run_report(folder_.path());
  }

  /// Says what is wrong with a comparison if the only change is at this place.
  static std::string why_wrong(const RunReport& before, const RunReport& now, const Place& place) {
    std::vector<Change> changes = compare::compare(before, now).changes;
    std::erase_if(changes, [](const Change& each) { return each.is_as_before(); });
    std::string named;
    for (const Change& each : changes) {
      named += std::string(name(each.kind)) + ' ' + each.what + '\n';
    }
    if (changes.size() != (place.empty() ? 0U : 1U)) return "got: " + named;
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

  TemporaryFolder folder_;
};

TEST_P(AnyChangeTest, IsNamedAndOnlyIt) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Files files = random_files(random);
    const RunReport before = read(files);
    EXPECT_EQ(why_wrong(before, before, ""), "") << "a run against itself, seed " << seed;
    const Place place = GetParam().make(files, random);
    const RunReport now = read(files);
    EXPECT_EQ(why_wrong(before, now, place), "") << place << ", seed " << seed;
    EXPECT_EQ(why_wrong(now, before, place), "") << place << ", reversed, seed " << seed;
  }
}

const auto name_of = [](const auto& each) { return std::string(each.param.name); };
INSTANTIATE_TEST_SUITE_P(Verdicts,
                         AnyChangeTest,
                         testing::ValuesIn(mutations_of_verdicts()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Numbers,
                         AnyChangeTest,
                         testing::ValuesIn(mutations_of_numbers()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Rest, AnyChangeTest, testing::ValuesIn(mutations_of_the_rest()), name_of);
INSTANTIATE_TEST_SUITE_P(Gate, AnyChangeTest, testing::ValuesIn(mutations_of_a_gate()), name_of);
INSTANTIATE_TEST_SUITE_P(NotCompared,
                         AnyChangeTest,
                         testing::ValuesIn(mutations_without_meaning()),
                         name_of);

}  // namespace
}  // namespace rankcheck::harness::compare
