#include "harness/run/available_backends.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/text.hpp"

namespace rankcheck::harness::run {
namespace {

/// Two made-up backends, of which one cannot run, and two kinds of programs.
AvailableBackends made_up_backends() {
  return AvailableBackends(
      {{.name = "here", .summary = "runs", .why_unavailable = [] { return std::string(); }},
       {.name = "elsewhere",
        .summary = "does not run",
        .why_unavailable = [] { return std::string("no device"); },
        .compiled =
            [] {
              return std::vector<AlgorithmInfo>{{"copy", "direct", "copies"}};
            }}},
      {{.prefix = "program:",
        .placeholder = "LINE",
        .summary = "a program",
        .why_unavailable = [](const std::string& path) { return path + " is missing"; },
        .open = nullptr},
       {.prefix = "script:",
        .placeholder = "FILE",
        .summary = "a script",
        .why_unavailable = [](const std::string&) { return std::string(); },
        .open = nullptr,
        .ranks_max = 4,
        .stands_for = "elsewhere"}});
}

TEST(AvailableBackendsTest, SubjectsGetNamesThatNobodyElseHas) {
  const AvailableBackends backends = made_up_backends();
  EXPECT_EQ(backends.name_of_subject("command:x", "mine", {}), "mine");
  EXPECT_EQ(backends.name_of_subject("command:x", "mine", {"mine", "mine-2"}), "mine-3");
  EXPECT_EQ(backends.name_of_subject("command:x", "elsewhere", {"elsewhere-2"}), "elsewhere-3");
  EXPECT_EQ(backends.name_of_subject("command:x", "my own/code", {}), "my-own-code");
  EXPECT_EQ(backends.name_of_subject("command:x", "", {"unnamed"}), "unnamed-2");
}

TEST(AvailableBackendsTest, AProgramThatStandsForABackendHasItsNameUnlessItIsTaken) {
  const AvailableBackends backends = made_up_backends();
  EXPECT_EQ(backends.stands_for("script:x"), "elsewhere");
  EXPECT_EQ(backends.stands_for("program:x"), "");
  EXPECT_EQ(backends.name_of_subject("script:x", "other", {}), "elsewhere");
  EXPECT_EQ(backends.name_of_subject("script:x", "elsewhere", {"elsewhere"}), "elsewhere-2");
  EXPECT_EQ(backends.ranks_to_start("script:x"), 4);
  EXPECT_EQ(backends.ranks_to_start("program:x"), 0);
}

TEST(AvailableBackendsTest, SaysWhichBackendsCanRunAndWhatTheOthersHave) {
  const std::vector<NamedBackend> known = made_up_backends().known();
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[0].unavailable, "");
  EXPECT_TRUE(known[0].compiled.empty());
  EXPECT_EQ(known[1].unavailable, "no device");
  EXPECT_EQ(known[1].compiled.size(), 1U);
}

TEST(AvailableBackendsTest, TakesThePathOfAProgramFromItsName) {
  const NamedBackend program = made_up_backends().find("program:/a/b");
  EXPECT_EQ(program.name, "program:/a/b");
  EXPECT_EQ(program.unavailable, "/a/b is missing");
  EXPECT_EQ(made_up_backends().find("script:a").summary, "a script");
}

TEST(AvailableBackendsTest, RefusesUnknownAndUnavailableBackends) {
  const AvailableBackends all = made_up_backends();
  EXPECT_NO_THROW(all.require("here"));
  EXPECT_EQ(complaint_of<BadInput>([&] { all.require("elsewhere"); }),
            "backend: elsewhere: cannot run here: no device");
  EXPECT_EQ(
      complaint_of<BadInput>([&] { all.require("hero"); }),
      "backend: hero: is unknown, expected program:LINE, script:FILE, or a backend of 'rankcheck "
      "list'; did you mean here?");
}

}  // namespace
}  // namespace rankcheck::harness::run
