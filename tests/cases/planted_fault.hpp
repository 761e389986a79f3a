#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck::tests {

/// The expected finding of a fault that was planted in a library.
struct Told {
  std::string_view verdict;
  /// A part of the finding's reason.
  std::string_view says;
  /// The minimal case has at most this number of ranks.
  int ranks_max = 2;
  /// Whether the fault shows in a case that shrinks to one element at most. Otherwise, only the
  /// verdict and the reason are expected.
  bool has_case = true;
  /// Whether the fault only shows in cases that are `pending`.
  bool is_pending = false;
};

/// Expects that a finding reports the fault. Its minimal case has at most one element.
inline void expect_told(const nlohmann::json& finding, const Told& told) {
  EXPECT_EQ(finding.at("verdict"), std::string(told.verdict)) << finding;
  const std::string reason = finding.at("reason");
  EXPECT_NE(reason.find(told.says), std::string::npos) << reason;
  if (told.is_pending) {
    EXPECT_TRUE(finding.at("minimal").value("pending", false)) << finding.at("minimal");
  }
  if (!told.has_case) return;
  const nlohmann::json& minimal = finding.at("minimal");
  EXPECT_LE(minimal.at("ranks"), told.ranks_max) << minimal;
  EXPECT_LE(minimal.value("count", 0), 1) << minimal;
}

/// What is expected of a wrong result, or of a call that the library refuses.
constexpr Told falsified(std::string_view says, int ranks_max = 3) {
  return {.verdict = "falsified", .says = says, .ranks_max = ranks_max};
}
constexpr Told crashed(std::string_view says, int ranks_max = 3) {
  return {.verdict = "crashed", .says = says, .ranks_max = ranks_max};
}
constexpr Told hung(std::string_view says, int ranks_max = 3) {
  return {.verdict = "hung", .says = says, .ranks_max = ranks_max};
}

/// The property that finds most faults.
inline constexpr std::string_view agrees = "agrees_with_reference";

/// Returns a unit's finding in a report. Null if there is none.
inline const nlohmann::json* find(const nlohmann::json& report, const std::string& unit) {
  for (const nlohmann::json& finding : report.at("findings")) {
    if (finding.at("id") == unit) return &finding;
  }
  return nullptr;
}

/// Expects that a run's first finding reports the fault.
inline void expect_first_finding(const nlohmann::json& report, const Told& told) {
  expect_told(report.at("findings").at(0), told);
}

/// A fault, and the unit that must find it.
struct Fault {
  std::string_view name;
  std::string_view operation;
  std::string_view algorithm;
  std::string_view property = agrees;
  Told told = falsified("differs from the reference");
};

/// Returns a fault with the unit `operation/algorithm/property` that must find it. Without a
/// property, it is agrees_with_reference.
constexpr Fault fault(std::string_view name,
                      std::string_view unit,
                      Told told = falsified("differs from the reference")) {
  const std::size_t first = unit.find('/');
  const std::size_t second = std::min(unit.find('/', first + 1), unit.size());
  return {name,
          unit.substr(0, first),
          unit.substr(first + 1, second - first - 1),
          second == unit.size() ? agrees : unit.substr(second + 1),
          told};
}

/// One run of the program with several faults, of which each one shows only in its own unit. So it
/// hides no other one.
struct PlantedRun {
  std::string_view name;
  std::vector<Fault> faults;
  std::string_view options = "--cases 20 --ranks 2..3";
  /// How often each failure is replayed. Few runs keep the default: replays cost most of the time.
  int replays = 1;

  /// The names of the faults, with commas between them.
  [[nodiscard]] std::string planted() const {
    std::string names;
    for (const Fault& each : faults) {
      if (("," + names + ",").find("," + std::string(each.name) + ",") != std::string::npos)
        continue;
      names += (names.empty() ? "" : ",") + std::string(each.name);
    }
    return names;
  }

  /// The unit that must find a fault.
  static std::string unit(const Fault& fault, const std::string& backend) {
    return std::string(fault.operation) + "/" + std::string(fault.algorithm) + "/" + backend + "/" +
           std::string(fault.property);
  }

  /// The arguments of the run, with one job: each further job would start workers of its own.
  [[nodiscard]] std::string arguments(const std::string& backend) const {
    std::string text = "run all --backend " + backend + " --jobs 1 --report out ";
    for (const Fault& each : faults) text += "--unit " + unit(each, backend) + " ";
    if (replays != default_replays) text += "--replays " + std::to_string(replays) + " ";
    return text + std::string(options);
  }

  /// Expects that the run found all faults, each one in its unit, and nothing else.
  void expect_found(const std::string& backend,
                    const Outcome& outcome,
                    const nlohmann::json& report) const {
    EXPECT_EQ(report.at("findings").size(), faults.size()) << outcome.out;
    for (const Fault& each : faults) {
      SCOPED_TRACE(std::string(each.name) + " in " + unit(each, backend));
      const nlohmann::json* const found = find(report, unit(each, backend));
      ASSERT_NE(found, nullptr) << outcome.out << outcome.err;
      expect_told(*found, each.told);
      if (found->contains("minimal")) {
        EXPECT_EQ(found->at("replays"), replays) << *found;
      }
    }
  }

  static constexpr int default_replays = 5;
};

/// Returns a run that is named after its first fault.
inline PlantedRun planted_run(std::vector<Fault> faults,
                              std::string_view options = PlantedRun().options,
                              int replays = 1) {
  const std::string_view name = faults.front().name;
  return {name, std::move(faults), options, replays};
}

/// Prints a parameter for GoogleTest.
[[maybe_unused]] inline void PrintTo(const PlantedRun& run, std::ostream* out) {
  *out << run.name;
}

/// Names an instance of a test of such runs.
inline constexpr auto name_of_run = [](const auto& instance) {
  return std::string(instance.param.name);
};

}  // namespace rankcheck::tests
