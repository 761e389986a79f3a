#include "harness/report/text_style.hpp"

#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include "harness/base/program.hpp"

namespace rankcheck::harness {
namespace {

TEST(TextStyleTest, ColoursByTheVerdict) {
  const TextStyle coloured(true);
  EXPECT_EQ(coloured.paint(Verdict::passed, "x"), "\x1b[1m\x1b[32mx\x1b[0m");
  EXPECT_EQ(coloured.paint(Verdict::vacuous, "x"), "\x1b[1m\x1b[31mx\x1b[0m");
  EXPECT_EQ(coloured.paint(Verdict::skipped, "x"), "\x1b[1m\x1b[33mx\x1b[0m");
  EXPECT_EQ(TextStyle(false).paint(Verdict::falsified, "x"), "x");
}

/// A terminal, and an environment that allows colours. Restores the environment after each test.
class TerminalStyleTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::openpty(&master_, &terminal_, nullptr, nullptr, nullptr), 0);
  }
  void TearDown() override {
    ::close(master_);
    ::close(terminal_);
  }
  [[nodiscard]] bool is_coloured(int descriptor) const {
    return TextStyle::for_output(descriptor).paint(Verdict::passed, "x") != "x";
  }

  EnvironmentVariable no_color_{"NO_COLOR", std::nullopt};
  EnvironmentVariable term_{"TERM", "xterm"};
  int master_ = -1;
  int terminal_ = -1;
};

TEST_F(TerminalStyleTest, ColoursATerminalOnly) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  EXPECT_TRUE(is_coloured(terminal_));
  EXPECT_FALSE(is_coloured(pipe[1]));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(TerminalStyleTest, RespectsTheEnvironment) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(is_coloured(terminal_));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(is_coloured(terminal_)) << "an empty value forbids nothing";
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(is_coloured(terminal_));
}

}  // namespace
}  // namespace rankcheck::harness
