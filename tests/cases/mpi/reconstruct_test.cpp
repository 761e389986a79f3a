#include <csignal>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include "cases/reconstruct/reconstruction.hpp"
#include "tests/cases/cli.hpp"
#include "tests/cases/reconstruct/scan.hpp"
#include "tests/data.hpp"

namespace rankcheck {
namespace {

namespace rec = cases::reconstruct;
using tests::Outcome;

class MpiReconstructTest : public tests::CliTest {
 protected:
  MpiReconstructTest() {
    once("simulate scan.cxi --positions 16 --detector 16 --modes 2 --overlap 0.7", "scan.cxi");
  }

  /// Reconstructs with four processes. Returns the checkpoint's state.
  rec::Result reconstruct(const std::string& options) {
    passes("reconstruct scan.cxi --backend mpi --ranks 4 --checkpoint state.cxi " + options);
    return state();
  }
  rec::Result state() const {
    return rec::read_result(path_to("state.cxi"), rec::read_dataset(path_to("scan.cxi")));
  }

  /// Calls `act` with the program's process id while four processes reconstruct, after their third
  /// iteration. Returns the outcome of the reconstruction.
  Outcome meanwhile(const std::function<void(pid_t)>& act) {
    return when_it_says("\niteration 3/",
                        "reconstruct scan.cxi --backend mpi --ranks 4 --iterations 1000000 "
                        "--checkpoint state.cxi",
                        act);
  }
};

TEST_F(MpiReconstructTest, StepsAsTheReference) {
  for (const std::string layout : {"replicated", "tiles"}) {
    const rec::Result result =
        reconstruct("--iterations 12 --batches 4 --verify 3 --partition grid --layout " + layout);
    EXPECT_EQ(result.costs.size(), 13U);
    EXPECT_LT(result.costs.back(), 0.2 * result.costs.front());
  }
}

TEST_F(MpiReconstructTest, ComesNearTheSiemensStar) {
  const auto data = tests::data_file(tests::siemens_star);
  if (!data) GTEST_SKIP() << tests::absent(tests::siemens_star);
  passes("reconstruct " + harness::shell_quoted(data->string()) +
         " --backend mpi --ranks 4 --partition quadrants --iterations 7 --verify 50 "
         "--checkpoint state.cxi");
  const rec::Result result =
      rec::read_result(folder_.path() / "state.cxi", rec::read_dataset(*data));
  EXPECT_LE(result.costs.back(), 0.02);
}

TEST_F(MpiReconstructTest, GoesOnBitByBit) {
  const rec::Result whole = reconstruct("--layout tiles --iterations 4");
  reconstruct("--layout tiles --iterations 2");
  const rec::Result resumed = reconstruct("--layout tiles --iterations 4 --resume state.cxi");
  EXPECT_EQ(resumed.costs, whole.costs);
  EXPECT_EQ(resumed.state.object, whole.state.object);
  EXPECT_EQ(resumed.state.probe, whole.state.probe);
}

TEST_F(MpiReconstructTest, PrintsOnce) {
  const Outcome outcome =
      rankcheck("reconstruct scan.cxi --backend mpi --ranks 4 --iterations 3 --verify 4");
  EXPECT_TRUE(has(outcome.out, "on 4 ranks in mpi"));
  // Expected lines: two at the start, three iterations, three checked steps, one at the end. A
  // further line announces the first check, whose duration is unknown, and checks that take long.
  // These lines are not counted.
  std::size_t lines = 0;
  std::istringstream text(outcome.out);
  for (std::string line; std::getline(text, line);) {
    if (line.find("repeating it in the reference") == std::string::npos) ++lines;
  }
  EXPECT_EQ(lines, 9U) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(MpiReconstructTest, LooksForAProbeAsOneRankDoes) {
  rec::write(folder_.path() / "bare.cxi", rec::small_scan());
  const auto lines = [&](const std::string& options) {
    const Outcome outcome = passes("reconstruct bare.cxi --iterations 1 " + options);
    return std::count(outcome.out.begin(), outcome.out.end(), '\n');
  };
  EXPECT_EQ(lines("--backend mpi --ranks 3"), lines("--ranks 1"));
}

TEST_F(MpiReconstructTest, EndsTogetherWhenItIsInterrupted) {
  const Outcome outcome = meanwhile([](pid_t program) { ::kill(program, SIGINT); });
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_GE(state().iterations, 3);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(MpiReconstructTest, EndsWhenAProcessDies) {
  const Outcome outcome = meanwhile([this](pid_t program) {
    shell("kill -KILL $(pgrep --newest --parent $(pgrep --parent " + std::to_string(program) +
          "))");
  });
  EXPECT_EQ(outcome.status, 2);
  expect_one_line(outcome, "rankcheck: backend mpi: ");
}

/// One process writes. The others wait for it in a collective, which must not wait for ever.
TEST_F(MpiReconstructTest, EndsWhenACheckpointCannotBeWritten) {
  std::filesystem::create_directory(path_to("there"));
  const Outcome outcome =
      when_it_says("\niteration 3/",
                   "reconstruct scan.cxi --backend mpi --ranks 2 --iterations 1000000 "
                   "--checkpoint there/state.cxi --checkpoint-every 1",
                   [this](pid_t) { std::filesystem::rename(path_to("there"), path_to("gone")); });
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "rankcheck: cannot write: there/state.cxi: No such file or directory\n");
}

TEST_F(MpiReconstructTest, PassesComplaintsOn) {
  const std::string start = "reconstruct --backend mpi --ranks 4 ";
  expect_unable(start + "absent.cxi", "absent.cxi");
  expect_unable(start + "scan.cxi --batches 17", "--batches: got 17, expected 1 to 16");
  expect_unable("reconstruct --backend mpi --ranks 65 scan.cxi", "65 not in range 1 to 64");
}

}  // namespace
}  // namespace rankcheck
