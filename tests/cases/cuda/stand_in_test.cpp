#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cuda/on_stand_in.hpp"

#if RANKCHECK_RECONSTRUCTS
#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/scan.hpp"
#endif

/// Behaviour that needs devices, tested on stand-ins for them.
namespace rankcheck {
namespace {

using tests::Outcome;

class CudaOnStandInTest : public tests::OnStandIn {
 protected:
  /// Reconstructs on three ranks and repeats steps in the reference. Returns the bytes of the last
  /// checkpoint.
  std::string reconstruct(const std::string& backend, const std::string& options) {
    const std::string state = backend + ".cxi";
    passes("reconstruct scan.cxi --ranks 3 --iterations 4 " + options +
           " --verify 3 --partition grid --backend " + backend + " --checkpoint " + state);
    return harness::read_file(folder_.path() / state);
  }

  /// Runs the gate without nccl, which the stand-in does not have. The devices have so little
  /// memory that the gate takes seconds. Large cases would not fit, so all cases of its suite have
  /// the same count.
  Outcome gate(const std::string& surroundings,
               const std::string& arguments = "",
               const std::string& ranks = "[1,8]") {
    install_gate();
    harness::write_file(
        cases() / "suites" / "hardware.json",
        R"({"name":"hardware","summary":"s","entries":[{"backends":["cuda"],"cases":100,"ranks":)" +
            ranks + "}]}");
    return run_gate(
        "--backend cuda --operation all_reduce --algorithm ring "
        "--property agrees_with_reference --cases 5 " +
            arguments,
        "gate",
        "RANKCHECK_STAND_IN_MIB=2 " + surroundings);
  }
  /// Gives the gate a clock that does not depend on the machine: a probe takes four seconds, and
  /// nearly nothing else takes any time but the cases of suites that have a time budget.
  void install_gate() {
    const std::string program = path_to("bin/rankcheck").string();
    const std::string worker = path_to("bin/rankcheck-worker-cuda").string();
    std::filesystem::remove(program);
    std::filesystem::remove(worker);
    install_clocked("0.01", "4");
    write_script("bin/rankcheck-worker-cuda",
                 "[ \"$1\" != --probe ] || printf . >> ticks\n"
                 "exec '" RANKCHECK_STAND_IN_CUDA "/rankcheck-worker-cuda' \"$@\"\n");
  }
  /// Writes a script in place of compute-sanitizer. Returns the surroundings in which a gate on one
  /// device finds it.
  std::string write_sanitizer(const std::string& text) {
    std::filesystem::create_directories(path_to("tools"));
    write_script("tools/compute-sanitizer", text);
    return "RANKCHECK_STAND_IN_DEVICES=1 PATH=$PWD/tools:$PATH";
  }
  /// Probes the link from device 0 to device 1: two patterns, one copy each. Returns the worker's
  /// answer.
  nlohmann::json probe(const std::string& surroundings, const std::string& method) {
    const Outcome outcome = shell(
        surroundings + R"( bin/rankcheck-worker-cuda --probe '{"from":0,"to":1,"bytes":4096,)" +
            R"("method":")" + method + R"(","seed":1,"first":0,"patterns":2,"repeats":1}')",
        0);
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }
  [[nodiscard]] nlohmann::json hardware() {
    return report("gate").at("environment").at("hardware");
  }
  /// Returns what the gate reports of one of its parts.
  [[nodiscard]] nlohmann::json part(const std::string& name) {
    return with_name(name, hardware().at("phases"));
  }
  /// Returns the gate's links by value: a loop over a part of hardware()'s result would use a
  /// dangling reference.
  [[nodiscard]] nlohmann::json links() {
    nlohmann::json all = hardware().at("links");
    EXPECT_FALSE(all.empty());
    return all;
  }
};

TEST_F(CudaOnStandInTest, IsNoHardware) {
  EXPECT_TRUE(has(rankcheck("doctor").out,
                  "devices: stand-in, on this host (compute capability 0.0, 1024 MiB)",
                  "memory: host: a stand-in, not CUDA"));
}

/// The doctor names everything that is missing on a machine.
TEST_F(CudaOnStandInTest, TellsTheDoctorInALineWhatIsMissing) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> expected{
      {"RANKCHECK_STAND_IN=no_driver",
       {"no NVIDIA driver is installed: install one for CUDA 13.0 or newer"}},
      {"RANKCHECK_STAND_IN=old_driver",
       {"the NVIDIA driver is too old, it supports CUDA 12.4: install one for CUDA 13.0 or newer"}},
      {"RANKCHECK_STAND_IN=too_old",
       {"device 0 has compute capability -1.0, the kernels are for 0.0 and newer: hide it with "
        "CUDA_VISIBLE_DEVICES",
        "device 1 has compute capability -1.0"}},
      {"RANKCHECK_CUFFT_LIBRARY=/nowhere/libcufft.so.12",
       {"cuFFT cannot be loaded: /nowhere/libcufft.so.12: cannot open"}},
      {"RANKCHECK_CUFFT_LIBRARY=libm.so.6", {"cuFFT cannot be loaded: libm.so.6: not cuFFT"}},
      {"RANKCHECK_STAND_IN=no_driver RANKCHECK_CUFFT_LIBRARY=/nowhere/libcufft.so.12",
       {"no NVIDIA driver is installed", "cuFFT cannot be loaded: "}}};
  for (const auto& [surroundings, lines] : expected) {
    const nlohmann::json cuda = doctor("cuda", "", surroundings);
    EXPECT_FALSE(cuda.at("available")) << surroundings;
    std::vector<std::string> said = cuda.value("notes", std::vector<std::string>());
    said.insert(said.begin(), cuda.at("why_unavailable"));
    ASSERT_GE(said.size(), lines.size()) << surroundings << cuda;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_TRUE(begins(said[i], lines[i])) << surroundings;
      EXPECT_FALSE(has(said[i], "\n"));
    }
  }
}

TEST_F(CudaOnStandInTest, TheGateGoesOnWithTheSameLibrariesAlone) {
  std::filesystem::copy_file(RANKCHECK_STAND_IN_CUFFT, path_to("mine.so"));
  surroundings_ = "RANKCHECK_STAND_IN_MIB=2 RANKCHECK_STAND_IN_DEVICES=1 ";
  rankcheck("run hardware --backend cuda --operation barrier --report gate --time-budget 0.01");
  const std::string journal = text_of("gate/journal.jsonl");
  expect_unable("--cufft-library ./mine.so run --resume gate", "cufft_library to be ");
  EXPECT_EQ(text_of("gate/journal.jsonl"), journal);
}

TEST_F(CudaOnStandInTest, TellsTheDoctorWhichCufftItTook) {
  const std::string taken = "libcufft.so.0 (found by the dynamic linker)";
  EXPECT_TRUE(has(std::string(doctor("cuda").at("versions").at("cufft_library")), taken));
  const nlohmann::json without = doctor("cuda", "", "RANKCHECK_STAND_IN=no_driver");
  EXPECT_TRUE(has(without.at("notes").dump(), taken));
}

TEST_F(CudaOnStandInTest, TakesTheCufftThatAnOptionNames) {
  const std::filesystem::path mine = path_to("mine.so");
  std::filesystem::copy_file(RANKCHECK_STAND_IN_CUFFT, mine);
  const std::string option = " --cufft-library " + harness::shell_quoted(mine.string());
  const Outcome outcome = rankcheck("doctor" + option);
  EXPECT_TRUE(has(outcome.out, mine.string() + " (named by --cufft-library or "));
  const std::string run = "run smoke --backend cuda --operation propagate --cases 5 --report ";
  passes(run + "r" + option);
  expect_unable(run + "s --cufft-library /nowhere/libcufft.so.12",
                "/nowhere/libcufft.so.12: cannot open");
  expect_unable(run + "s --cufft-library ''", "got nothing, expected a value");
}

TEST_F(CudaOnStandInTest, SaysWhatMendsAMachineThatIsNotReady) {
  for (const std::string command : {" doctor", " run smoke --backend cuda"}) {
    const Outcome outcome = shell("RANKCHECK_STAND_IN=not_ready " + program_ + command);
    EXPECT_TRUE(has(outcome.out + outcome.err, "start nvidia-fabricmanager")) << command;
  }
}

TEST_F(CudaOnStandInTest, AsksForAllQueuesUnlessTheUserDoes) {
  EXPECT_TRUE(has(rankcheck("doctor").out, "cuda_queues: 32"));
  EXPECT_TRUE(has(with("CUDA_DEVICE_MAX_CONNECTIONS=2", "doctor").out, "cuda_queues: 2"));
}

#if RANKCHECK_RECONSTRUCTS
TEST_F(CudaOnStandInTest, ReconstructsBitByBitAsTheSimulator) {
  once("simulate scan.cxi --positions 16 --detector 16 --modes 2 --overlap 0.7", "scan.cxi");
  for (const std::string layout : {"--layout replicated", "--layout tiles"}) {
    const std::string state = reconstruct("cuda", layout + " --batches 4");
    EXPECT_FALSE(state.empty());
    EXPECT_EQ(state, reconstruct("sim", layout + " --batches 4")) << layout;
  }
}

/// The fused passes of some solvers round differently from the simulator.
TEST_F(CudaOnStandInTest, StepsWithEverySolverWithinTheBoundsOfTheReference) {
  once("simulate scan.cxi --positions 16 --detector 16 --modes 2 --overlap 0.7", "scan.cxi");
  for (const cases::reconstruct::Solver& solver : cases::reconstruct::solvers()) {
    for (const std::string layout : {" --layout replicated", " --layout tiles"}) {
      reconstruct("cuda", "--solver " + std::string(solver.name) + layout);
    }
  }
}

TEST_F(CudaOnStandInTest, FindsAProbeToStartFromAsTheSimulatorDoes) {
  cases::reconstruct::write(folder_.path() / "scan.cxi", cases::reconstruct::small_scan());
  EXPECT_EQ(reconstruct("cuda", ""), reconstruct("sim", ""));
}
#endif

TEST_F(CudaOnStandInTest, FailsNothingOfTheGateAndPassesNoDevice) {
  EXPECT_EQ(gate("").status, 2) << "the devices are stand-ins, so the gate cannot pass";
  const nlohmann::json found = hardware();
  ASSERT_EQ(found.at("devices").size(), 2U);
  for (const nlohmann::json& each : found.at("devices")) {
    EXPECT_EQ(each.at("verdict"), "skipped") << each;
    EXPECT_EQ(each.at("reason"), "not hardware: host: a stand-in, not CUDA") << each;
    EXPECT_EQ(each.at("memory"), "host: a stand-in, not CUDA") << each;
    EXPECT_EQ(each.at("name"), "stand-in, on this host");
  }
  for (const std::string part : {"device-0", "device-1"}) {
    const nlohmann::json run = report("gate/" + part).at("run");
    EXPECT_EQ(run.at("suites"), nlohmann::json{"smoke"}) << part;
    EXPECT_EQ(run.at("cases"), 5) << part;
  }
  ASSERT_EQ(found.at("links").size(), 8U);
  for (const nlohmann::json& each : found.at("links")) {
    EXPECT_EQ(each.at("verdict"), "passed") << each;
    EXPECT_GT(each.at("exposure").at("bytes"), 0) << each;
    EXPECT_EQ(each.at("exposure").at("bytes_of_copy"), 1 << 19) << each;
    EXPECT_EQ(each.at("way"), each.at("from") == each.at("to") ? "within" : "peer") << each;
  }
  EXPECT_TRUE(has(text_of("gate/summary.md"), "None: the devices are stand-ins"));
}

TEST_F(CudaOnStandInTest, HasEveryDeviceInTheSuitesOfTheGate) {
  gate("RANKCHECK_STAND_IN_DEVICES=3", "", "[1,1]");
  EXPECT_EQ(hardware().at("devices").size(), 3U);
  for (const std::string phase : {"suites", "soak"}) {
    const nlohmann::json found = findings("gate/" + phase);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].at("unit").at("ranks"), (nlohmann::json{1, 3}));
    EXPECT_GT(found[0].at("cases"), 0) << found;
  }
}

/// The sanitizer is a script that logs its arguments. It reports a write out of bounds if the
/// stand-in saw one. It fails with status 86 if the file `complains` exists.
TEST_F(CudaOnStandInTest, RunsItsWorkersUnderTheSanitizer) {
  const std::string surroundings = write_sanitizer(R"sh(
echo "$*" >> sanitized
shift 2
if [ "$2" = --write-out-of-bounds ]; then
  "$@" 2> seen
  grep -q 'written behind the end of 512 bytes' seen || exit 0
  echo '========= Invalid __global__ write of size 8 bytes'
  exit 86
fi
[ -e complains ] || exec "$@"
"$@"
exit 86
)sh");
  EXPECT_EQ(gate(surroundings).status, 2);
  EXPECT_EQ(part("sanitizer").at("verdict"), "passed") << part("sanitizer");
  EXPECT_GT(part("sanitizer").at("cases"), 0) << part("sanitizer");
  EXPECT_TRUE(begins(text_of("sanitized"), "--error-exitcode 86 "));
  // The planted error comes first.
  EXPECT_LT(text_of("sanitized").find("--write-out-of-bounds\n"),
            text_of("sanitized").find("--ranks"));
  // The sanitizer makes everything slower.
  const nlohmann::json sanitized = report("gate/sanitizer");
  EXPECT_EQ(sanitized.at("run").at("suites"), nlohmann::json{"smoke"});
  EXPECT_EQ(sanitized.at("run").at("cases"), 1);
  EXPECT_EQ(sanitized.at("environment").at("timeout_s"),
            10 * report("gate").at("environment").at("timeout_s").get<double>());

  std::filesystem::remove_all(path_to("gate"));
  harness::write_file(path_to("complains"), "");
  EXPECT_EQ(gate(surroundings).status, 1);
  EXPECT_EQ(part("sanitizer").at("verdict"), "crashed") << part("sanitizer");
}

/// The script sees nothing, and so would pass everything.
TEST_F(CudaOnStandInTest, DoesNotTrustASanitizerThatSeesNothing) {
  const std::string surroundings =
      write_sanitizer("shift 2\ncase $2 in *bounds) \"$@\" 2> seen; exit 0;; esac\nexec \"$@\"\n");
  EXPECT_EQ(gate(surroundings).status, 2);
  EXPECT_EQ(part("sanitizer").at("verdict"), "errored") << part("sanitizer");
  EXPECT_EQ(part("sanitizer").at("reason"),
            "compute-sanitizer was to report a planted write out of bounds: it did not report it. "
            "So its silence says nothing");
  EXPECT_FALSE(exists("gate/sanitizer"));
  EXPECT_TRUE(has(text_of("seen"), "written behind the end of 512 bytes"));
}

TEST_F(CudaOnStandInTest, MeasuresTheSpeedsThatHaveATarget) {
  gate("RANKCHECK_STAND_IN_DEVICES=1");
  const nlohmann::json speeds = hardware().at("speeds");
  // The selection has no gradients.
  ASSERT_EQ(speeds.size(), 2U);
  EXPECT_EQ(speeds[0].at("measurement"), "large/cuda/all_reduce/direct/8x65536");
  EXPECT_EQ(speeds[0].at("counter"), "bandwidth_share");
  EXPECT_EQ(speeds[0].at("at_least"), 0.7);
  EXPECT_EQ(speeds[1].at("measurement"), "cases/cuda");
  for (const nlohmann::json& each : speeds) {
    EXPECT_GT(each.at("value"), 0) << each;
    EXPECT_TRUE(each.at("met").is_null()) << each;
  }
  EXPECT_EQ(part("speed").at("verdict"), "passed");
  const Outcome quiet =
      call_gate("RANKCHECK_STAND_IN_MIB=2 RANKCHECK_STAND_IN_DEVICES=1",
                "hardware --backend cuda --operation all_reduce --algorithm ring --cases 1 --quiet "
                "--report quiet");
  EXPECT_FALSE(has(quiet.out, "Iterations"));
  EXPECT_FALSE(has(quiet.err, "CPU Caches"));
}

TEST_F(CudaOnStandInTest, FailsTheGateWhereCopiesStopShort) {
  EXPECT_EQ(gate("RANKCHECK_STAND_IN=short_copy").status, 1);
  for (const nlohmann::json& each : links()) {
    // Copies of the comparison's own results stop short, too, and may end the probe.
    EXPECT_EQ(each.at("verdict") == "passed", each.at("method") != "copy") << each;
  }
}

TEST_F(CudaOnStandInTest, FindsABitThatLoadsFlip) {
  for (const std::string method : {"copy", "load"}) {
    const nlohmann::json found = probe("RANKCHECK_STAND_IN=flipped_load", method);
    const int wrong = method == "load" ? 2 : 0;
    EXPECT_EQ(found.at("wrong_copies"), wrong) << found;
    EXPECT_EQ(found.at("wrong_bytes"), wrong) << found;
    EXPECT_EQ(found.at("lost_sources"), 0) << found;
  }
}

TEST_F(CudaOnStandInTest, QuickGateReachesEveryLinkOfEightDevices) {
  surroundings_ = "RANKCHECK_STAND_IN_DEVICES=8 RANKCHECK_STAND_IN_MIB=1 ";
  // The stand-ins are not hardware.
  rankcheck("run hardware --quick --report gate", 2);
  const nlohmann::json all = links();
  EXPECT_EQ(all.size(), 128U);
  for (const nlohmann::json& each : all) {
    EXPECT_EQ(each.at("verdict"), "passed") << each;
    EXPECT_EQ(each.at("exposure").at("copies"), 6) << each;
    EXPECT_EQ(each.at("way"), each.at("from") == each.at("to") ? "within" : "peer") << each;
  }
  std::filesystem::remove_all(path_to("gate"));
  with("RANKCHECK_STAND_IN=flipped_load", "run hardware --quick --report gate", 1);
  for (const nlohmann::json& each : links()) {
    EXPECT_EQ(each.at("verdict") == "passed", each.at("method") == "copy") << each;
  }
}

TEST_F(CudaOnStandInTest, CopiesStraightFromDeviceToDeviceWhereTheyReachEachOther) {
  EXPECT_EQ(probe("RANKCHECK_STAND_IN=no_way_round", "copy").at("wrong_copies"), 0);
  EXPECT_EQ(probe("RANKCHECK_STAND_IN=no_reach", "copy").at("wrong_copies"), 0) << "by the host";
}

TEST_F(CudaOnStandInTest, TellsOfTimesOfLinksThatNothingCanTake) {
  for (const std::string fault : {"no_time", "time_backwards", "time_in_us", "time_of_nan"}) {
    for (const std::string method : {"copy", "load"}) {
      const nlohmann::json found = probe("RANKCHECK_STAND_IN=" + fault, method);
      EXPECT_EQ(found.at("copies"), 2) << found;
      EXPECT_EQ(found.at("seconds").size(), 0U) << fault << found;
      EXPECT_TRUE(has(found.value("impossible_time", ""), "s: expected more than 0"))
          << fault << found;
    }
  }
  EXPECT_FALSE(probe("", "copy").contains("impossible_time"));
}

TEST_F(CudaOnStandInTest, SkipsLinksThatKernelsCannotUse) {
  const Outcome outcome = gate("RANKCHECK_STAND_IN=no_reach");
  EXPECT_NE(outcome.status, 0) << outcome.out;
  for (const nlohmann::json& each : links()) {
    const bool is_closed = each.at("method") == "load" && each.at("from") != each.at("to");
    EXPECT_EQ(each.at("verdict"), is_closed ? "skipped" : "passed") << each;
    const bool is_within = each.at("from") == each.at("to");
    EXPECT_EQ(each.at("way"), is_closed ? "unknown" : is_within ? "within" : "host") << each;
  }
  EXPECT_TRUE(has(outcome.out, "| copy | host |"));
}

TEST_F(CudaOnStandInTest, RefusesWhatTheDevicesCannotDo) {
  const std::string barrier = "run ci --backend cuda --operation barrier --cases 5 --report ";
  const Outcome apart = with("RANKCHECK_STAND_IN=no_reach", barrier + "apart");
  EXPECT_NE(apart.status, 0) << apart.out;
  EXPECT_TRUE(has(apart.out + apart.err, "device 0 cannot reach the memory of device 1"));
  const Outcome slow = with("RANKCHECK_STAND_IN=no_atomics", barrier + "slow");
  EXPECT_NE(slow.status, 0) << slow.err;
  EXPECT_TRUE(has(slow.out, "6 skipped (6 not_supported)"));
  const Outcome none = with("RANKCHECK_STAND_IN_DEVICES=0", barrier + "none", 2);
  EXPECT_TRUE(has(none.err, "the NVIDIA driver finds no device"));
}

TEST_F(CudaOnStandInTest, WorkerRefusesArgumentsThatMakeNoSense) {
  for (const std::string arguments : {"",
                                      "--ranks",
                                      "--ranks 0",
                                      "--ranks -1",
                                      "--ranks 8x",
                                      "--ranks 65",
                                      "--ranks 99999999999",
                                      "--ranks 2 3",
                                      "--nonsense"}) {
    const Outcome outcome = shell("bin/rankcheck-worker-cuda " + arguments, 2);
    EXPECT_TRUE(begins(outcome.err, "rankcheck-worker-cuda: expected --ranks N of at most 64"))
        << arguments;
  }
  for (const std::string word : {"--probe", "--time"}) {
    const Outcome outcome = shell("bin/rankcheck-worker-cuda " + word + " '{'", 2);
    EXPECT_EQ(outcome.err, "rankcheck-worker-cuda: " + word + ": got {, expected JSON\n");
  }
}

/// Only barriers are not replayed: launching a graph already synchronises the ranks.
TEST_F(CudaOnStandInTest, ReplaysAllButBarriers) {
  surroundings_ = "RANKCHECK_STAND_IN=no_graphs ";
  const std::string run = "run ci --backend cuda --cases 10 --operation ";
  passes(run + "barrier --property separates_ranks,groups_at_once --report barrier");
  const Outcome other = rankcheck(run + "broadcast --property is_deterministic --report broadcast");
  EXPECT_NE(other.status, 0) << other.out;
}

TEST_F(CudaOnStandInTest, UsesOneDeviceForAllRanks) {
  with("RANKCHECK_STAND_IN_DEVICES=1",
       "run ci --backend cuda --operation all_reduce --property is_deterministic --cases 20 "
       "--report one",
       0);
}

/// The fault shows only in some orders of the work.
TEST_F(CudaOnStandInTest, FindsTransformsThatShareAWorkArea) {
  const Outcome outcome =
      with("RANKCHECK_STAND_IN=shared_area RANKCHECK_STAND_IN_DEVICES=1",
           "run ci --backend cuda --operation propagate --property agrees_with_reference "
           "--ranks 2..3 --cases 100 --seed 4 --jobs 1 --report shared",
           1);
  EXPECT_TRUE(has(outcome.out, "differs from the reference"));
}

/// Each case fits into the device, but not beside all that the cases before it have used.
TEST_F(CudaOnStandInTest, MakesDoWithLittleMemory) {
  const std::string entry =
      R"("operation":"all_gather","backends":["cuda"],"cases":30,"ranks":[1,8],"count":)";
  write_entries({entry + "10", entry + "300", entry + "200"});
  with("RANKCHECK_STAND_IN_DEVICES=1 RANKCHECK_STAND_IN_MIB=2", "run s.json --report little", 0);
}

/// `rankcheck bench --backend cuda`.
class CudaBenchTest : public tests::OnStandIn {
 protected:
  /// Measures calls with these environment variables. Expects the exit status. Returns all output.
  std::string bench(int status, const std::string& variables = "") {
    const Outcome outcome = with(
        variables,
        "bench --backend cuda --min-time 0.01 --bytes 4096 --filter large/cuda/all_reduce/ring/* "
        "--json bench.json",
        status);
    return outcome.out + outcome.err;
  }
};

TEST_F(CudaBenchTest, NamesTheDevices) {
  EXPECT_TRUE(has(bench(0), "stand-in, on this host"));
  const auto context = nlohmann::json::parse(text_of("bench.json")).at("context");
  EXPECT_TRUE(has(std::string(context.at("cuda")), "stand-in, on this host"));
}

TEST_F(CudaBenchTest, ReadsWhatTheTimedRunsLeft) {
  EXPECT_TRUE(has(bench(1, "RANKCHECK_STAND_IN=lost_replay"),
                  "a later run left a different result on rank 0"));
}

TEST_F(CudaBenchTest, RefusesTimesThatNothingCanTake) {
  for (const std::string fault : {"no_time", "time_backwards", "time_in_us"}) {
    EXPECT_TRUE(has(bench(1, "RANKCHECK_STAND_IN=" + fault),
                    "s: expected more than 0, and no more than the"))
        << fault;
  }
}

}  // namespace
}  // namespace rankcheck
