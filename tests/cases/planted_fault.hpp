#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck::tests {

/// What a run is to say of a fault that was planted in a library.
struct Told {
  std::string_view verdict;
  /// A part of the finding's reason.
  std::string_view says;
  /// The most ranks of the case that it shrinks to.
  int ranks_max = 2;
  /// Whether it shows in a case, and not only at the library's end.
  bool has_case = true;
};

/// Judges the first finding of a run that was to find it, with one element at most.
inline void expect_found(const Outcome& outcome, const nlohmann::json& report, const Told& told) {
  const nlohmann::json& finding = report.at("findings").at(0);
  EXPECT_EQ(finding.at("verdict"), std::string(told.verdict)) << outcome.out;
  EXPECT_NE(finding.at("reason").get<std::string>().find(told.says), std::string::npos)
      << finding.at("reason");
  if (!told.has_case) return;
  const nlohmann::json& minimal = finding.at("minimal");
  EXPECT_LE(minimal.at("ranks"), told.ranks_max) << minimal;
  EXPECT_LE(minimal.value("count", 0), 1) << minimal;
}

}  // namespace rankcheck::tests
