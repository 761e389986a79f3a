#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cases/backends/hybrid.hpp"
#include "tests/cases/cli.hpp"

/// The commands that know the backend `hybrid`.
namespace rankcheck::hybrid_tests {
namespace {

using nlohmann::json;
using tests::Outcome;

class HybridCommandsTest : public tests::CliTest {
 protected:
  void SetUp() override {
    const std::string why = cases::hybrid_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

const std::string short_run =
    "run --backend hybrid --operation broadcast --property agrees_with_reference --algorithm "
    "staged --cases 5 --ranks 3..3 --devices-per-process 3 --report r";

TEST_F(HybridCommandsTest, ReportTheDevices) {
  passes(short_run);
  const json chosen = report("r")["environment"]["backends"]["hybrid"];
  EXPECT_EQ(chosen.at("devices"), "sim");
  EXPECT_EQ(chosen.at("devices_per_process"), 3);
  EXPECT_TRUE(chosen.at("versions").at("mpi").is_string()) << chosen;
}

/// ci has entries for hybrid. With several devices, the last of these processes has fewer than the
/// others. Operators run on simulated devices of several processes as they are.
TEST_F(HybridCommandsTest, RunAPartOfCi) {
  const std::string others =
      "broadcast*,gather*,reduce*,scatter*,send_recv,rpie_step,halo_blend,partition_grid,propagate";
  for (const auto& [devices, operations] :
       {std::pair<std::string, std::string>{"1", "all_*"}, {"2", others}, {"3", "all_*"}}) {
    passes("run ci --backend hybrid --ranks 1..5 --operation '" + operations +
           "' --property agrees_with_reference --cases 5 --devices-per-process " + devices +
           " --report ci" + devices);
    const json all = findings("ci" + devices);
    EXPECT_FALSE(all.empty());
    for (const json& each : all) EXPECT_EQ(each.at("verdict"), "passed") << each;
  }
}

/// A case without an algorithm of its own runs the plan that its data_seed chooses.
TEST_F(HybridCommandsTest, NameThePlanThatRan) {
  const Outcome outcome = passes(
      R"(replay '{"operation":"all_gather","algorithm":"staged","backend":"hybrid","ranks":3,)"
      R"("count":2}' --times 1)");
  EXPECT_TRUE(has(outcome.out, "ran staged: "));
}

TEST_F(HybridCommandsTest, ResumeOnTheSameDevices) {
  passes(short_run);
  expect_unable("run --resume r --devices-per-process 4",
                "--resume: r: backends: hybrid: got 4, expected devices_per_process to be 3, as "
                "when the run began");
  passes("run --resume r --devices-per-process 3");
}

TEST_F(HybridCommandsTest, RefuseCallsWhoseInputsAreStillToArrive) {
  expect_unable(
      R"(replay '{"operation":"all_gather","backend":"hybrid","algorithm":"staged","ranks":3,)"
      R"("count":5,"pending":true}')",
      "pending: the worker has no streams");
}

TEST_F(HybridCommandsTest, RefuseOperatorsThatARankEntersLate) {
  expect_unable(
      R"(replay '{"operation":"extract","backend":"hybrid","ranks":2,"counts":[1,1],"rows":1,)"
      R"("cols":1,"window":1,"detector":1,"input":"exact","late":1}')",
      "late: operators begin on all ranks at once");
}

TEST_F(HybridCommandsTest, TellTheDoctorWhatThereIs) {
  EXPECT_EQ(doctor("hybrid").at("versions").at("devices_per_process"), 2);
  EXPECT_EQ(doctor("hybrid", "--devices-per-process 3").at("versions").at("devices_per_process"),
            3);
  EXPECT_EQ(doctor("hybrid", "--devices sim").at("versions").at("devices"), "sim");
}

TEST_F(HybridCommandsTest, RefuseOtherDevices) {
  expect_unable("doctor --devices-per-process 0", "Value 0 not in range 1 to 64");
  expect_unable("doctor --devices-per-process 02", "got 02, expected decimal digits");
  expect_unable("doctor --devices gpu", "--devices: gpu not in {sim,cuda}");
  for (const auto& [variable, says] :
       {std::pair{"RANKCHECK_DEVICES_PER_PROCESS=two", "got two, expected 1 to 64"},
        std::pair{"RANKCHECK_HYBRID_DEVICES=gpu", "got gpu, expected sim or cuda"}}) {
    surroundings_ = std::string(variable) + ' ';
    expect_unable("run --backend hybrid --report r", says);
    EXPECT_FALSE(exists("r"));
  }
}

TEST_F(HybridCommandsTest, MeasureSmallAndLargeCalls) {
  passes(
      "bench --backend hybrid --min-time 0.01 --bytes 65536 --frames 4 --filter "
      "'cases/hybrid,large/hybrid/all_gather/*,frames/hybrid/gaussian_gradients/batched/*' "
      "--json bench.json");
  const json all = json::parse(text_of("bench.json"))["benchmarks"];
  EXPECT_EQ(all.size(), 5U) << all;
}

#if RANKCHECK_RECONSTRUCTS

/// The last process has fewer devices than the others.
TEST_F(HybridCommandsTest, ReconstructAsTheReference) {
  passes("simulate scan.cxi --positions 16 --detector 16 --overlap 0.7");
  for (const auto& [devices, options] :
       {std::pair{"2", ""},
        std::pair{"3", "--devices-per-process 3 --layout tiles --partition grid"},
        std::pair{"1", "--devices sim --devices-per-process=1 --solver lsqml"}}) {
    const Outcome outcome = passes(
        std::string("reconstruct scan.cxi --backend hybrid --ranks 5 --iterations 4 --verify 2 ") +
        options);
    EXPECT_TRUE(has(outcome.out,
                    std::string("on 5 ranks in hybrid with ") + devices + " sim devices a process",
                    "step 2: error/bound"));
  }
}

TEST_F(HybridCommandsTest, PassComplaintsOn) {
  expect_unable("reconstruct --backend hybrid --ranks 4 absent.cxi", "absent.cxi");
  expect_unable("--devices-per-process=3 reconstruct --backend hybrid --ranks 4 absent.cxi",
                "absent.cxi");
}

#endif

}  // namespace
}  // namespace rankcheck::hybrid_tests
