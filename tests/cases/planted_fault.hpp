#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck::tests {

/// The expected report of a fault that was planted in a library.
struct Told {
  std::string_view verdict;
  /// A part of the finding's reason.
  std::string_view says;
  /// The minimal case has at most this number of ranks.
  int ranks_max = 2;
  /// Whether the fault shows in a case, not only when the library ends.
  bool has_case = true;
  /// Whether the fault only shows in cases that are `pending`.
  bool is_pending = false;
};

/// Expects that a run's first finding reports the fault. Its minimal case has at most one element.
inline void expect_found(const Outcome& outcome, const nlohmann::json& report, const Told& told) {
  const nlohmann::json& finding = report.at("findings").at(0);
  EXPECT_EQ(finding.at("verdict"), std::string(told.verdict)) << outcome.out;
  EXPECT_NE(finding.at("reason").get<std::string>().find(told.says), std::string::npos)
      << finding.at("reason");
  if (told.is_pending) {
    EXPECT_TRUE(finding.at("minimal").value("pending", false)) << finding.at("minimal");
  }
  if (!told.has_case) return;
  const nlohmann::json& minimal = finding.at("minimal");
  EXPECT_LE(minimal.at("ranks"), told.ranks_max) << minimal;
  EXPECT_LE(minimal.value("count", 0), 1) << minimal;
}

}  // namespace rankcheck::tests
