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
  /// Returns what the doctor says of the backend.
  json doctor(const std::string& options) {
    const json all = json::parse(rankcheck("doctor --json " + options).out).at("backends");
    for (const json& each : all) {
      if (each.at("name") == "hybrid") return each;
    }
    return {};
  }
};

const std::string short_run =
    "run --backend hybrid --operation broadcast --property agrees_with_reference --algorithm "
    "staged --cases 5 --ranks 3..3 --devices-per-process 3 --report r";

TEST_F(HybridCommandsTest, ReportTheDevices) {
  const Outcome outcome = rankcheck(short_run);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json chosen = report("r")["environment"]["backends"]["hybrid"];
  EXPECT_EQ(chosen.at("devices"), "sim");
  EXPECT_EQ(chosen.at("devices_per_process"), 3);
  EXPECT_TRUE(chosen.at("versions").at("mpi").is_string()) << chosen;
}

/// ci has an entry for hybrid.
TEST_F(HybridCommandsTest, RunAPartOfCi) {
  for (const std::string devices : {"1", "3"}) {
    const Outcome outcome = rankcheck(
        "run ci --backend hybrid --ranks 1..4 --operation 'all_*' --property "
        "agrees_with_reference --cases 3 --devices-per-process " +
        devices + " --report ci" + devices);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    const json findings = report("ci" + devices).at("findings");
    ASSERT_FALSE(findings.empty());
    for (const json& each : findings) EXPECT_EQ(each.at("verdict"), "passed") << each;
  }
}

/// Operators run on simulated devices of several processes as they are.
TEST_F(HybridCommandsTest, RunOperators) {
  for (const std::string operation : {"rpie_step", "halo_blend", "partition_grid", "propagate"}) {
    const Outcome outcome =
        rankcheck("run ci --backend hybrid --ranks 1..5 --operation " + operation +
                  " --property agrees_with_reference --cases 10 --report " + operation);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    const json findings = report(operation).at("findings");
    ASSERT_FALSE(findings.empty());
    for (const json& each : findings) {
      EXPECT_EQ(each.at("verdict"), "passed") << each;
      EXPECT_EQ(each.at("unit").at("backend"), "hybrid") << each;
    }
  }
}

/// A case without an algorithm of its own runs the plan that its data_seed chooses.
TEST_F(HybridCommandsTest, NameThePlanThatRan) {
  const Outcome outcome = rankcheck(
      R"(replay '{"operation":"all_gather","algorithm":"staged","backend":"hybrid","ranks":3,)"
      R"("count":2}' --times 1)");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("ran staged: "), std::string::npos) << outcome.out;
}

TEST_F(HybridCommandsTest, ResumeOnTheSameDevices) {
  ASSERT_EQ(rankcheck(short_run).status, 0);
  expect_unable("run --resume r --devices-per-process 4",
                "--resume: r: backends: hybrid: got 4, expected devices_per_process to be 3, as "
                "when the run began");
  EXPECT_EQ(rankcheck("run --resume r --devices-per-process 3").status, 0);
}

TEST_F(HybridCommandsTest, RefuseCallsWhoseInputsAreStillToArrive) {
  expect_unable("replay '" +
                    json{{"operation", "all_gather"},
                         {"backend", "hybrid"},
                         {"algorithm", "staged"},
                         {"ranks", 3},
                         {"count", 5},
                         {"pending", true}}
                        .dump() +
                    "'",
                "pending: the worker has no streams");
}

TEST_F(HybridCommandsTest, RunCallsThatARankEntersLate) {
  for (const char* late : {"0", "1", "4"}) {
    const Outcome outcome = rankcheck(
        R"(replay '{"operation":"all_gather","algorithm":"staged","backend":"hybrid","ranks":5,)"
        R"("count":2,"late":)" +
        std::string(late) + "}' --times 1");
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  }
}

TEST_F(HybridCommandsTest, RefuseOperatorsThatARankEntersLate) {
  expect_unable(
      R"(replay '{"operation":"extract","backend":"hybrid","ranks":2,"counts":[1,1],"rows":1,)"
      R"("cols":1,"window":1,"detector":1,"input":"exact","late":1}')",
      "late: operators begin on all ranks at once");
}

TEST_F(HybridCommandsTest, TellTheDoctorWhatThereIs) {
  EXPECT_EQ(doctor("").at("versions").at("devices_per_process"), 2);
  EXPECT_EQ(doctor("--devices-per-process 3").at("versions").at("devices_per_process"), 3);
  EXPECT_EQ(doctor("--devices sim").at("versions").at("devices"), "sim");
}

TEST_F(HybridCommandsTest, RefuseOtherDevices) {
  expect_unable("doctor --devices-per-process 0", "Value 0 not in range 1 to 64");
  expect_unable("doctor --devices-per-process 02", "got 02, expected decimal digits");
  expect_unable("doctor --devices gpu", "--devices: gpu not in {sim,cuda}");
  const std::string run = program_ + " run --backend hybrid --report r";
  for (const auto& [variable, says] :
       {std::pair{"RANKCHECK_DEVICES_PER_PROCESS=two", "got two, expected 1 to 64"},
        std::pair{"RANKCHECK_HYBRID_DEVICES=gpu", "got gpu, expected sim or cuda"}}) {
    const Outcome outcome = shell(variable + (" " + run));
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    EXPECT_FALSE(exists("r"));
  }
}

TEST_F(HybridCommandsTest, MeasureSmallAndLargeCalls) {
  const Outcome outcome = rankcheck(
      "bench --backend hybrid --min-time 0.01 --bytes 65536 --frames 4 --filter "
      "'cases/hybrid,large/hybrid/all_gather/*,frames/hybrid/gaussian_gradients/batched/*' "
      "--json bench.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json all = json::parse(text_of("bench.json"))["benchmarks"];
  EXPECT_EQ(all.size(), 5U) << all;
}

#if RANKCHECK_RECONSTRUCTS

/// The last process has fewer devices than the others.
TEST_F(HybridCommandsTest, ReconstructAsTheReference) {
  ASSERT_EQ(rankcheck("simulate scan.cxi --positions 16 --detector 16 --overlap 0.7").status, 0);
  for (const auto& [devices, options] :
       {std::pair{"2", ""},
        std::pair{"3", "--devices-per-process 3 --layout tiles --partition grid"},
        std::pair{"1", "--devices sim --devices-per-process=1 --solver lsqml"}}) {
    const Outcome outcome = rankcheck(
        std::string("reconstruct scan.cxi --backend hybrid --ranks 5 --iterations 4 --verify 2 ") +
        options);
    EXPECT_EQ(outcome.status, 0) << options << outcome.out << outcome.err;
    const std::string place =
        std::string("on 5 ranks in hybrid with ") + devices + " sim devices a process";
    EXPECT_NE(outcome.out.find(place), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("step 2: error/bound"), std::string::npos) << outcome.out;
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
