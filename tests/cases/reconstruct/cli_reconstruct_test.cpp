#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cases/reconstruct/reconstruction.hpp"
#include "cases/reconstruct/simulate.hpp"
#include "tests/cases/cli.hpp"
#include "tests/cases/reconstruct/scan.hpp"

namespace rankcheck {
namespace {

namespace rec = cases::reconstruct;

class CliReconstructTest : public tests::CliTest {
 protected:
  CliReconstructTest() {
    once("simulate scan.cxi --positions 16 --detector 16 --modes 2 --overlap 0.7", "scan.cxi");
  }

  void write_scan(const std::string& name, const std::vector<rec::Part>& changes = {}) {
    rec::write(path_to(name), rec::with(rec::small_scan(), changes));
  }
  /// Returns the state in the checkpoint of a reconstruction of the file.
  rec::Result checkpoint(const std::string& file = "scan.cxi") {
    return rec::read_result(path_to("state.cxi"), rec::read_dataset(path_to(file)));
  }
  /// Reconstructs. Returns the checkpoint's state.
  rec::Result reconstruct(const std::string& options, const std::string& file = "scan.cxi") {
    said_ = passes("reconstruct " + file + " --checkpoint state.cxi " + options);
    return checkpoint(file);
  }
  /// Expects these texts in the output of the last call of reconstruct().
  void expect_said(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) EXPECT_TRUE(has(said_.out, text));
  }

  tests::Outcome said_;
};

TEST_F(CliReconstructTest, ComesNearTheDataAndTellsWhatItDoes) {
  const rec::Result result =
      reconstruct("--ranks 3 --iterations 20 --batches 4 --verify 8 --pictures drawn");
  EXPECT_EQ(result.solver, "rpie");
  EXPECT_EQ(result.costs.size(), 21U);
  EXPECT_LT(result.costs.back(), 0.1 * result.costs.front());
  expect_said({"rpie, 4 batches, 2 modes on 3 ranks in sim",
               "\nstep 8: error/bound ",
               "\niteration 2/20  cost 0."});
  EXPECT_TRUE(
      said_.last_line().ends_with("after 20 iterations; reconstruction.cxi, pictures in drawn"));
  for (const std::string name : {"object-phase", "object-amplitude", "probe", "cost"}) {
    EXPECT_TRUE(exists("drawn/" + name + ".png"));
  }
}

TEST_F(CliReconstructTest, TakesTheNoiseForWhatTheModelSays) {
  const std::string options =
      "--solver conjugate_gradient --partition consecutive --iterations 3 --verify 1 --ranks 2";
  const rec::Result gaussian = reconstruct(options + " --model gaussian");
  const rec::Result poisson = reconstruct(options + " --layout tiles --model poisson");
  EXPECT_EQ(gaussian.solver, "conjugate_gradient");
  EXPECT_EQ(poisson.solver, "poisson_conjugate_gradient");
  EXPECT_NE(poisson.costs.front(), gaussian.costs.front());
  EXPECT_LT(gaussian.costs.back(), gaussian.costs.front());
  EXPECT_LT(poisson.costs.back(), poisson.costs.front());
}

TEST_F(CliReconstructTest, WarnsOfFramesThatAreNotOfTheFarField) {
  EXPECT_EQ(rankcheck("reconstruct scan.cxi --iterations 1").err, "");
  rec::Dataset near = rec::read_dataset(path_to("scan.cxi"));
  // Light covers the whole detector and carries the object's pattern.
  for (std::size_t i = 0; i < near.frames.size(); ++i) {
    near.frames[i] = 100 + 10 * static_cast<float>(i % 7);
  }
  rec::write_dataset(path_to("near.cxi"), near, "near", false);
  expect_one_line(
      passes("reconstruct near.cxi --iterations 1 --ranks 2"),
      "rankcheck: warning: near.cxi: entry_1/instrument_1/detector_1/data: the borders of the "
      "frames are 1 times as bright as their mean");
}

TEST_F(CliReconstructTest, GoesOnBitByBit) {
  write_scan("bare.cxi");
  for (const auto& [file, options] : {std::pair{"scan.cxi", std::string("--ranks 3 ")},
                                      {"scan.cxi", "--ranks 3 --layout tiles "},
                                      // The data have no probe.
                                      {"bare.cxi", "--modes 2 "}}) {
    SCOPED_TRACE(file + options);
    const rec::Result whole = reconstruct(options + "--iterations 4", file);
    reconstruct(options + "--iterations 2", file);
    const rec::Result resumed =
        reconstruct(options + "--iterations 4 --resume state.cxi --pictures pictures", file);
    EXPECT_EQ(resumed.costs, whole.costs);
    EXPECT_EQ(resumed.state.object, whole.state.object);
    EXPECT_EQ(resumed.state.probe, whole.state.probe);
  }
}

#ifndef __SANITIZE_THREAD__
// The thread sanitizer itself writes a file of half a megabyte when it starts.
TEST_F(CliReconstructTest, KeepsTheResultWhenTheLastCheckpointFails) {
  // A checkpoint of conjugate gradients is three times as large as the result.
  const std::string options =
      " reconstruct scan.cxi --solver conjugate_gradient --iterations 1 --checkpoint state.cxi";
  shell(program_ + options);
  const auto size = [&](const char* name) { return std::filesystem::file_size(path_to(name)); };
  const auto kibibytes = (size("reconstruction.cxi") + size("state.cxi")) / 2 / 1024;
  shell("rm reconstruction.cxi state.cxi");
  const tests::Outcome outcome =
      shell(fmt::format("ulimit -f {} && {}{}", 2 * kibibytes, program_, options), 2);
  EXPECT_EQ(outcome.err, "rankcheck: cannot write: state.cxi: File too large\n");
  EXPECT_TRUE(exists("reconstruction.cxi"));
}
#endif

TEST_F(CliReconstructTest, KeepsTheCheckpointWhenItDiverges) {
  reconstruct("--iterations 1");
  const std::string kept = text_of("state.cxi");
  rec::Dataset data = rec::read_dataset(path_to("scan.cxi"));
  // The intensities overflow single precision.
  for (std::complex<float>& value : data.object) value *= 1e30F;
  rec::write_dataset(path_to("bright.cxi"), data, "too bright", false);
  const tests::Outcome outcome =
      fails("reconstruct bright.cxi --start file --iterations 2 --checkpoint state.cxi");
  EXPECT_EQ(outcome.last_line(), "falsified: the cost is not a number");
  EXPECT_EQ(text_of("state.cxi"), kept);
}

TEST_F(CliReconstructTest, TellsWhatItLeavesOut) {
  std::vector<double> mask(24, 0);
  mask[1] = mask[9] = mask[17] = mask[2] = 1;
  write_scan("masked.cxi",
             {rec::numbers(rec::frames_1, {3, 2, 4}, std::vector<double>(24, 9)),
              rec::numbers(rec::mask_1, {3, 2, 4}, mask)});
  reconstruct("--iterations 1", "masked.cxi");
  expect_said({": 3 frames of 4 × 4 around 2 × 4, no probe",
               "\n2 of 8 pixels of every frame are masked, 1 of them because of bad values in "
               "some frames\n"});
}

TEST_F(CliReconstructTest, CountsOneInTheSingular) {
  std::vector<double> mask(16, 0);
  mask[1] = 1;
  write_scan("one.cxi",
             {rec::frames_of(std::vector<double>(16, 9)),
              rec::numbers(rec::mask_1, {4, 4}, mask),
              rec::translations({0, 0, 0})});
  reconstruct("--iterations 1", "one.cxi");
  expect_said({": 1 frame of 4 × 4, no probe", "\n1 of 16 pixels of every frame is masked\n"});
}

TEST_F(CliReconstructTest, LooksForAProbeThatTheDataLack) {
  write_scan("bare.cxi");
  reconstruct("--iterations 2", "bare.cxi");
  expect_said({"\nlooking for the probe, 1/",
               " m behind its focus: cost ",
               " m before its focus: cost ",
               "\nstarting "});
  reconstruct("--iterations 2 --defocus -0.125", "bare.cxi");
  expect_said({"\nstarting 0.125 m before its focus\n"});
  EXPECT_FALSE(has(said_.out, "looking for"));
}

TEST_F(CliReconstructTest, WritesNothingWhenItIsInterruptedBeforeItHasAProbe) {
  rec::Dataset data = rec::simulate({.positions = 400, .detector = 64, .probe = 64});
  data.has_probe = false;
  rec::write_dataset(path_to("bare.cxi"), data, "without a probe", false);
  const tests::Outcome outcome = interrupt_when_it_says(
      "layout\n", "reconstruct bare.cxi --solver conjugate_gradient --checkpoint state.cxi");
  EXPECT_TRUE(harness::ends(outcome.out,
                            "\ninterrupted while looking for the probe; nothing was written\n"));
  EXPECT_FALSE(exists("reconstruction.cxi"));
  EXPECT_FALSE(exists("state.cxi"));
}

TEST_F(CliReconstructTest, EndsWhenItIsInterruptedAndKeepsWhatItHas) {
  interrupt_when_it_says("\niteration 1/",
                         "reconstruct scan.cxi --iterations 1000000 --checkpoint state.cxi "
                         "--checkpoint-every 999999");
  const rec::Result result = checkpoint();
  EXPECT_GT(result.iterations, 0);
  EXPECT_LT(result.iterations, 1000000);
}

/// The program is interrupted as soon as the reference works, which takes seconds. If the program
/// waited for it, it would print the outcome of the check.
TEST_F(CliReconstructTest, DoesNotWaitForACheckWhenItIsInterrupted) {
  rankcheck("simulate long.cxi --positions 400 --detector 64");
  const tests::Outcome outcome = interrupt_when_it_says(
      "repeating it", "reconstruct long.cxi --solver conjugate_gradient --iterations 1 --verify 1");
  EXPECT_FALSE(has(outcome.out, "error/bound"));
  EXPECT_TRUE(has(outcome.out, " after 1 iteration; reconstruction.cxi\n"));
  EXPECT_FALSE(has(outcome.out, "vacuous"));
  EXPECT_TRUE(exists("reconstruction.cxi"));
}

/// An object that is not used may have any shape.
TEST_F(CliReconstructTest, RejectsAnObjectOnlyToStartFrom) {
  write_scan("bare.cxi");
  expect_unable("reconstruct bare.cxi --start file",
                "--start file: got data without an object, expected entry_1/image_1/data");
  write_scan("slices.cxi", {rec::filled(rec::object_1, {2, 9, 9}, 1)});
  reconstruct("--iterations 1", "slices.cxi");
  expect_unable("reconstruct slices.cxi --start file",
                "--start file: slices.cxi: entry_1/image_1/data: found [2, 9, 9], expected "
                "[rows, columns]\n");
}

/// Frames of one row are small in the file, but square on devices and in the reference. The program
/// refuses them before it reads them.
TEST_F(CliReconstructTest, RejectsWavesAndChecksThatDoNotFitIntoMemory) {
  write_scan("wide.cxi",
             {rec::numbers(rec::frames_1, {3, 1, 4096}, std::vector<double>(12288, 1)),
              rec::number(rec::source_1 + "wavelength", 4096),
              rec::filled(rec::probe_1, {1, 4, 4}, 1)});
  // The memory for three frames: 24 bytes for each of this number of values.
  const double gib = 3.0 * 4096 * 4096 * 24 * (5 + 10 * 64) / (1 << 30);
  const double most = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<double>(::sysconf(_SC_PAGESIZE)) / 4 / (1 << 30);
  if (gib <= most) GTEST_SKIP() << "this machine has memory for everything";
  expect_unable("reconstruct wide.cxi --batches 1 --modes 64 --verify 2",
                fmt::format("--verify 2: the reference's arrays of a step's frames take {:.1f} "
                            "GiB: expected at most {:.1f}, a quarter of this machine's memory\n",
                            gib,
                            most));
  // The waves lie on the devices and in a checkpoint, with 8 bytes per value.
  const double waves_gib = 3.0 * 4096 * 4096 * 64 * 2 * 8 / (1 << 30);
  if (waves_gib <= most) GTEST_SKIP() << "this machine has memory for all waves";
  expect_unable("reconstruct wide.cxi --solver difference_map --modes 64",
                fmt::format("--solver difference_map: the exit waves of all positions take {:.1f} "
                            "GiB: expected at most {:.1f}, a quarter of this machine's memory\n",
                            waves_gib,
                            most));
}

TEST_F(CliReconstructTest, RejectsWhatItCannotDoInOneLine) {
  const auto expect = [&](const std::string& options, const std::string& complaint) {
    expect_unable("reconstruct scan.cxi " + options, complaint);
  };
  expect("--backend nccl",
         "backend: nccl: expected a backend of reconstruct: sim, mpi, cuda or hybrid");
  expect("--iterations 1 --batches 2 --verify 3",
         "--verify: got 3, expected a K that divides the number of a step to run, 1 to 2");
  expect("--iterations 0 --verify 1", "--verify: got no step to run, expected at least one");
  expect("--start file --resume state.cxi", "--start");
  expect("--solver none", "solver: none: expected rpie, epie");
  expect("--defocus 1e-3", "--defocus: scan.cxi has a probe, expected data without one");
  write_scan("bare.cxi");
  expect_unable("reconstruct bare.cxi --defocus 1e9",
                "--defocus: got 1000000000, expected at most 1.28 metres");
  expect("--defocus 1 --resume state.cxi", "--defocus");
  expect("--batches 17", "--batches: got 17, expected 1 to 16, the positions");
  expect("--solver lsqml --model poisson",
         "--model: got poisson, expected gaussian, the only model of lsqml");
  expect("--model poisson", "--model requires --solver");
  expect("--solver conjugate_gradient --batches 2", "--batches: got 2, expected 1, because");
  expect("--partition none", "--partition");
  expect("--layout none", "--layout");
  expect("--ranks 0", "--ranks");
  expect("--ranks 65", "--ranks: Value 65 not in range 1 to 64");
  expect("--output scan.cxi", "scan.cxi: expected another file than the data");
  expect("--output a.cxi --checkpoint ./a.cxi", "./a.cxi: expected another file than the output");
  expect("--checkpoint a --pictures a", "a: expected another file than the checkpoint");
  expect("--resume a --output a", "a: expected another file than the checkpoint");
  expect("--output none/out.cxi", "none/out.cxi: found no folder none, expected");
  expect("--output .", ".: found a folder, expected a file");
  expect("--output ''", "--output: got nothing, expected a value");
  expect("--checkpoint none/state.cxi", "none/state.cxi: found no folder none, expected");
  expect("--pictures scan.cxi/drawn", "scan.cxi/drawn: found ");
  expect("--resume scan.cxi", "scan.cxi: found no checksum at the end of the file, expected one");
  expect_unable("reconstruct absent.cxi", "absent.cxi");
}

/// The complaint is the same as for `rankcheck run`, and it comes before anything is written.
TEST_F(CliReconstructTest, NeedsAGpuForCuda) {
  const std::string hidden = "CUDA_VISIBLE_DEVICES= ";
  const std::string options = "reconstruct scan.cxi --backend cuda --checkpoint state.cxi";
  const tests::Outcome outcome = shell(hidden + program_ + ' ' + options, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, shell(hidden + program_ + " run smoke --backend cuda").err);
  expect_one_line(outcome, "rankcheck: backend: cuda: cannot run here: ");
  const std::filesystem::path started = RANKCHECK_BINARY_DIR "/rankcheck-reconstruct-cuda";
  if (std::filesystem::exists(started)) {
    const tests::Outcome direct =
        shell(hidden + harness::shell_quoted(started.string()) + ' ' + options, 2);
    EXPECT_EQ(direct.out, "");
    expect_one_line(direct, "", "rankcheck-reconstruct-cuda");
  }
  EXPECT_FALSE(exists("reconstruction.cxi"));
  EXPECT_FALSE(exists("state.cxi"));
}

/// The worker reports that it can run. The program prints the arguments with which it was started.
TEST_F(CliReconstructTest, PassesItsArgumentsToTheProgramForCuda) {
  install();
  write_script("bin/rankcheck-worker-cuda",
               R"(echo '{"unavailable": "", "devices": [], "algorithms": []}')");
  expect_unable("reconstruct scan.cxi --backend cuda",
                "rankcheck-reconstruct-cuda is missing beside rankcheck: ");
  write_script("bin/rankcheck-reconstruct-cuda",
               R"(echo "$@"; echo "$complaint" >&2; exit "$status")");
  const std::string call = "reconstruct scan.cxi --backend cuda";
  const std::string launcher = "RANKCHECK_CUDA_LAUNCHER='env complaint=a'";
  EXPECT_EQ(with("status=0 " + launcher, call + " --ranks 3", 0).out,
            call + " --ranks 3 --progress=lines\n");
  with("status=1", call, 1);
  EXPECT_EQ(with("status=2 complaint='rankcheck-reconstruct-cuda: cudaMalloc'", call, 2).err,
            "rankcheck: cudaMalloc\n");
  EXPECT_TRUE(begins(with("status=3 complaint=why", call, 2).err,
                     "rankcheck: backend cuda: rankcheck-reconstruct-cuda ended with"));
  expect_unable("reconstruct scan.cxi --backend cuda --ranks 65", "65 not in range 1 to 64");
}

TEST_F(CliReconstructTest, RejectsOtherOptionsThanACheckpointHas) {
  reconstruct("--iterations 1 --batches 4");
  const auto expect = [&](const std::string& options, const std::string& complaint) {
    expect_unable("reconstruct scan.cxi --resume state.cxi " + options, complaint);
  };
  expect("--solver epie", "--solver: got epie, expected rpie, as in state.cxi");
  expect("--iterations 0", "--iterations: got 0, expected at least 1, the number in state.cxi");
  expect("--iterations 1 --verify 1", "--verify: got no step to run, expected at least one");
  expect("--iterations 2 --verify 9",
         ", expected a K that divides the number of a step to run, 5 to 8");
  expect("--batches 5", "--batches: got 5, expected 4, as in state.cxi");
  expect("--modes 3", "--modes: got 3, expected 2, as in state.cxi");
  rec::Dataset data = rec::read_dataset(path_to("scan.cxi"));
  data.frames[0] += 1;
  rec::write_dataset(path_to("scan.cxi"), data, "another", false);
  expect("", "state.cxi: rankcheck_1/frames_hash: found ");
}

}  // namespace
}  // namespace rankcheck
