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
  const GateReport gate = passes(8);
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
  const std::string left_out = "skipped: left out: --quick only checks links and devices";
  for (const char* each : {"cuda", "nccl", "speed", "sanitizer", "suites", "device", "soak"}) {
    EXPECT_EQ(outcome_of(phase_of(gate, each)), left_out) << each;
  }
  EXPECT_EQ(phase_of(gate, "links").verdict, Verdict::passed);
  EXPECT_TRUE(begins(to_markdown(gate),
                     "# rankcheck: the quick gate for hardware passed (exit status 0)\n\n"
                     "Every link and every device once: 2 devices, 4 links. Not checked: "));
  EXPECT_TRUE(begins(short_text(gate),
                     "rankcheck: the quick gate for hardware passed (exit status 0):\n"
                     "  2 devices, 4 links, 49,152 bytes compared\nNot checked: "));
  EXPECT_TRUE(begins(to_markdown(gate.report, notes_of(gate)),
                     "# rankcheck: the quick gate for hardware passed\n"));
  EXPECT_EQ(to_json(gate).at("quick"), true);
}

TEST_F(QuickGateTest, FindsTheLinkThatCorrupts) {
  plant([](const ProbeRequest& request) { return request.from == 2 && request.to == 0; });
  const GateReport gate = fails(3);
  EXPECT_EQ(red_links(gate), (std::set<std::pair<int, int>>{{2, 0}}));
  EXPECT_TRUE(has(short_text(gate),
                  "\nlink 2 to 0 by copy: falsified: 1 of 6 copies are wrong, 1 bytes\n"));
  // A job's log shows the link.
  EXPECT_TRUE(has(said_, "link 2 to 0"));
}

TEST_F(QuickGateTest, LinkThatWasNotReachedInTimeIsNotGreen) {
  why_end_ = "time_over";
  const GateReport gate = cannot_judge(2);
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
  EXPECT_TRUE(has(text, "more, see summary.md\n"));
}

}  // namespace
}  // namespace rankcheck::cases::hardware
