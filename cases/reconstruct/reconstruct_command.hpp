#pragma once

#include <functional>
#include <optional>
#include <string>

#include "gpu/device/cluster.hpp"

#include "harness/run/interrupt.hpp"

#include "cases/reconstruct/reconstruction.hpp"

namespace CLI {
class App;
}

/// The command `reconstruct`. It is part of the main program and of worker programs with their own
/// devices. This code does not know how the operators are compiled; the program that links it
/// decides.
namespace rankcheck::cases::reconstruct {

/// The user's options.
struct Options {
  std::string file = {};
  std::string solver = {};
  /// The model of the frames' noise. Empty: the solver's own model.
  std::string model = {};
  std::string backend = "sim";
  /// The backend's devices in words, which the program that runs sets. Empty if there is no choice.
  std::string devices = {};
  /// 0: as many as there are processes, or 1.
  int ranks = 0;
  std::string partition = "compact";
  std::string layout = "replicated";
  std::string start = "flat";
  /// Metres from the focus to the sample. Empty: a search finds the best distance.
  std::optional<double> defocus = {};
  StepBudget budget{.save_every = 10};
  /// Steps of an iteration. 0: the solver's default.
  int batches = 0;
  /// Modes of the probe. 0: as many as the data's probe has.
  int modes = 0;
  std::string checkpoint = {};
  std::string resume = {};
  std::string output = "reconstruction.cxi";
  std::string pictures = {};
  std::string progress = "auto";
};

/// Adds the command. Its callback stores the result of `run` in `exit_status`, which must outlive
/// the app.
void add_command(CLI::App& app,
                 int& exit_status,
                 const std::function<int(const Options& options)>& run);

/// Runs the command with the arguments of a worker program, of which the first is the command's
/// name. Returns the exit status. Throws BadInput, CLI::ParseError, and everything that `run`
/// throws. `answers`: whether this process answers `--help`. Among processes with the same
/// arguments only one should.
[[nodiscard]] int run_command(int argc,
                              char** argv,
                              bool answers,
                              const std::function<int(const Options& options)>& run);

/// Reconstructs with the ranks of this process. Only the process with rank 0 prints and writes.
/// Returns the exit status. Throws BadInput, and everything that the cluster throws.
[[nodiscard]] int reconstruct_on(gpu::Cluster& cluster,
                                 const Options& options,
                                 const harness::run::Interrupt& interrupt);

}  // namespace rankcheck::cases::reconstruct
