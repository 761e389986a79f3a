#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "harness/base/stop.hpp"

#include "tests/cases/hardware/gate_fixture.hpp"

/// The quick gate: links and devices once, and what it says that it did not check.
namespace rankcheck::cases::hardware {
namespace {

using gpu::cuda::Method;
using harness::Verdict;

class QuickGateTest : public GateTest {
 protected:
  void SetUp() override { is_quick_ = true; }
};

TEST_F(QuickGateTest, ProbesEveryDirectedLinkOnceByEachMethod) {
  const GateReport gate = run(8);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(requests_.size(), 128U);
  std::set<std::tuple<int, int, Method>> seen;
  for (const ProbeRequest& each : requests_) {
    seen.insert({each.from, each.to, each.probe.method});
    // Every fixed pattern and a random one.
    EXPECT_EQ(each.probe.first, 0);
    EXPECT_EQ(each.probe.patterns, gpu::cuda::Pattern::fixed + 1);
    EXPECT_EQ(each.probe.repeats, 1);
  }
  EXPECT_EQ(seen.size(), 128U);
  EXPECT_TRUE(phases_.empty());
  EXPECT_EQ(said_, "");
  for (const DeviceVerdict& each : gate.devices) EXPECT_EQ(each.verdict, Verdict::passed);
}

TEST_F(QuickGateTest, SaysWhatItDidNotCheck) {
  const GateReport gate = run(2);
  const std::string left_out = "left out: --quick only checks links and devices";
  for (const char* each : {"cuda", "nccl", "speed", "sanitizer", "suites", "device", "soak"}) {
    EXPECT_EQ(phase_of(gate, each).verdict, Verdict::skipped) << each;
    EXPECT_EQ(phase_of(gate, each).reason, left_out) << each;
  }
  EXPECT_EQ(phase_of(gate, "links").verdict, Verdict::passed);
  const std::string page = to_markdown(gate);
  EXPECT_EQ(page.find("# rankcheck: the quick gate for hardware passed (exit status 0)\n\n"
                      "Every link and every device once: 2 devices, 4 links. Not checked: "),
            0U)
      << page;
  const std::string text = short_text(gate);
  EXPECT_EQ(text.find("rankcheck: the quick gate for hardware passed (exit status 0):\n"
                      "  2 devices, 4 links, 49,152 bytes compared\nNot checked: "),
            0U)
      << text;
  EXPECT_EQ(to_markdown(gate.report, notes_of(gate))
                .find("# rankcheck: the quick gate for hardware passed\n"),
            0U);
  EXPECT_EQ(to_json(gate).at("quick"), true);
}

TEST_F(QuickGateTest, FindsTheLinkThatCorrupts) {
  plant([](const ProbeRequest& request) { return request.from == 2 && request.to == 0; });
  const GateReport gate = run(3);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(red_links(gate), (std::set<std::pair<int, int>>{{2, 0}}));
  const std::string text = short_text(gate);
  EXPECT_NE(text.find("\nlink 2 to 0 by copy: falsified: 1 of 6 copies are wrong, 1 bytes\n"),
            std::string::npos)
      << text;
  // A job's log shows the link.
  EXPECT_NE(said_.find("link 2 to 0"), std::string::npos) << said_;
}

TEST_F(QuickGateTest, LinkThatWasNotReachedInTimeIsNotGreen) {
  why_end_ = "time_over";
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(gate.report.ending, "time_over");
  EXPECT_EQ(gate.report.not_run, 8);
  for (const DeviceVerdict& each : gate.devices) EXPECT_EQ(each.verdict, Verdict::skipped);
}

TEST_F(QuickGateTest, HearsAnInterruptInItsLastLink) {
  probe_ = [this](const ProbeRequest& request) {
    if (requests_.size() < 8) return good_probe(request);
    why_end_ = "interrupted";
    throw harness::Interrupted();
  };
  const GateReport gate = run(2);
  EXPECT_EQ(gate.report.ending, "interrupted");
  EXPECT_EQ(gate.report.not_run, 1);
}

/// 40 lines are enough to see what is wrong.
TEST_F(QuickGateTest, ItsTextIsShortWhateverFails) {
  plant([](const ProbeRequest&) { return true; });
  const std::string text = short_text(run(8));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60);
  EXPECT_NE(text.find("more, see summary.md\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace rankcheck::cases::hardware
