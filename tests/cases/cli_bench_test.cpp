#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;

class CliBenchTest : public tests::CliTest {
 protected:
  /// Returns all measurements by name, without the suffix that Google Benchmark appends.
  std::map<std::string, json> measure(const std::string& arguments) {
    passes("bench --min-time 0.01 --json bench.json " + arguments);
    std::map<std::string, json> all;
    const json results = json::parse(text_of("bench.json"))["benchmarks"];
    for (const json& each : results) {
      const auto name = each["name"].get<std::string>();
      all[name.substr(0, std::min(name.find("/iterations:"), name.rfind("/manual_time")))] = each;
    }
    return all;
  }

  /// Installs a worker that logs its requests in the file `asked`. It reports 3 ms for a call whose
  /// copy takes 2 ms.
  void install_worker() {
    install();
    write_script("bin/rankcheck-worker-cuda", R"sh(
case "$1" in
--describe) echo '{"unavailable":"","devices":[],"algorithms":[]}' ;;
--time)
  echo "$2" >> asked
  echo '{"seconds":[9,0.003,0.003],"floor_seconds":[0.002,9,0.002],"floor_bytes":1073741824}' ;;
*) exit 1 ;;
esac
)sh");
  }
};

TEST_F(CliBenchTest, MeasuresSmallCasesAndLargeCallsInSim) {
  const auto all = measure("--backend sim --bytes 65536 --frames 2");
  ASSERT_TRUE(all.contains("cases/sim"));
  ASSERT_TRUE(all.contains("operators/sim"));
  ASSERT_TRUE(all.contains("large/sim/all_reduce/ring/8x65536"));
  ASSERT_TRUE(all.contains("frames/sim/gaussian_gradients/batched/1x2x128"));
  ASSERT_TRUE(all.contains("frames/sim/rpie_step/replicated/1x2x128"));
  for (const std::string what :
       {"halo_blend/exchanged", "redistribute/exchanged", "partition_grid/gathered"}) {
    EXPECT_TRUE(all.contains("frames/sim/" + what + "/4x2x128")) << what;
  }
  double floor_seconds = 0;
  for (const auto& [name, each] : all) {
    EXPECT_GT(each.value("peak_memory_bytes", 0.0), 1e6) << name;
    if (name == "cases/sim" || name == "operators/sim") {
      EXPECT_GT(each.value("cases_per_second", 0.0), 0);
      continue;
    }
    EXPECT_GT(each.value("floor_ratio", 0.0), 0) << name;
    EXPECT_GT(each.value("floor_seconds", 0.0), 0) << name;
    if (name.starts_with("frames/")) continue;
    if (floor_seconds == 0) floor_seconds = each["floor_seconds"];
    // The value is a mean over the iterations, and adding them up rounds.
    EXPECT_NEAR(each["floor_seconds"], floor_seconds, 1e-9 * floor_seconds)
        << "measured once: " << name;
  }
}

TEST_F(CliBenchTest, StartsTheWorkerThroughItsLauncher) {
  install_worker();
  write_script("launch", ": > launched\necho begin\n\"$@\" && echo end\n");
  const Outcome outcome =
      with("RANKCHECK_CUDA_LAUNCHER=./launch",
           "bench --backend cuda --min-time 0.01 --filter 'large/cuda/all_reduce/direct/*'",
           0);
  EXPECT_TRUE(has(outcome.out, "floor_ratio=1.5"));
  EXPECT_TRUE(exists("launched"));
}

/// The program waits for an answer for more than ten times --min-time, so it ends in time only if
/// it hears the signal.
TEST_F(CliBenchTest, HearsASignalWhileItWaitsForAWorker) {
  install();
  program_ = tests::last_resort + program_;
  for (const std::string signal : {"INT", "TERM"}) {
    write_silent_worker(signal);
    const Outcome outcome =
        rankcheck("bench --backend cuda --min-time 60 --filter 'large/cuda/all_reduce/*'");
    EXPECT_EQ(outcome.status, signal == "INT" ? 130 : 143) << outcome.out << outcome.err;
    EXPECT_TRUE(has(outcome.err, "rankcheck: interrupted before everything was measured\n"));
  }
}

TEST_F(CliBenchTest, HearsASignalWhileItMeasures) {
  // Google Benchmark describes the machine on stderr before it measures.
  const Outcome outcome = interrupt_when_it_says(
      "Load Average", "bench --backend sim --filter cases/sim --min-time 60 2>&1");
  EXPECT_TRUE(has(outcome.out, "rankcheck: interrupted before"));
}

/// The worker measures with the GPU's clock. Here the worker is a script.
TEST_F(CliBenchTest, AsksTheWorkerForTimesOnCuda) {
  install_worker();
  const auto all = measure("--backend cuda --filter '*/cuda/*/direct/*'");
  const json& sum = all.at("large/cuda/all_reduce/direct/8x67108864");
  EXPECT_DOUBLE_EQ(sum["real_time"], 3);
  EXPECT_DOUBLE_EQ(sum["floor_seconds"], 0.002);
  EXPECT_DOUBLE_EQ(sum["floor_ratio"], 1.5);
  EXPECT_EQ(sum["runs"], 3);
  // The plan reads or writes (3 n - 1) buffers, the copies read and write 2 n.
  EXPECT_DOUBLE_EQ(sum["bandwidth_share"], 23.0 / 16 / 1.5);
  const auto frames = measure("--backend cuda --filter 'frames/cuda/*/fused/*'");
  const json& gradients = frames.at("frames/cuda/gaussian_gradients/fused/1x2048x256");
  EXPECT_DOUBLE_EQ(gradients["floor_ratio"], 1.5);
  EXPECT_FALSE(gradients.contains("bandwidth_share"));
  const std::string asked = harness::read_file(folder_.path() / "asked");
  EXPECT_TRUE(has(asked, R"("operation":"all_reduce","algorithm":"direct")"));
  EXPECT_TRUE(has(asked, R"("counts":[2048])"));
}

/// Plans that would need too much memory are named, not timed.
TEST_F(CliBenchTest, TimesPlansOfThousandsOfRanksOnATopology) {
  // Plans that time many rounds are left out here: they take seconds.
  const Outcome outcome = passes(
      "bench --topology cluster512 --ranks 4096 --json times.json "
      "--operation 'b*,all_to_all*,gather*,scatter*,reduce'");
  EXPECT_TRUE(has(outcome.out, "left out: about "));
  const json times = json::parse(text_of("times.json"));
  EXPECT_EQ(times["topology"], "cluster512");
  int timed = 0;
  int left_out = 0;
  for (const json& each : times["simulated"]) {
    EXPECT_EQ(each["ranks"], 4096) << each;
    const bool has_time = each.value("simulated_seconds", 0.0) > 0;
    EXPECT_NE(has_time, each.contains("left_out")) << each;
    ++(has_time ? timed : left_out);
  }
  EXPECT_GE(timed, 15);
  EXPECT_GE(left_out, 1);
}

TEST_F(CliBenchTest, SeveralPlansAreChosen) {
  const Outcome outcome = passes(
      "bench --topology nvlink8 --operation all_gather,broadcast --operation barrier "
      "--algorithm ring --algorithm central,binomial --bytes 65536");
  for (const char* each : {"all_gather", "broadcast", "barrier"}) {
    EXPECT_TRUE(has(outcome.out, each));
  }
  EXPECT_FALSE(has(outcome.out, "all_reduce"));
}

}  // namespace
}  // namespace rankcheck
