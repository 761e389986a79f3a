#pragma once

#include <functional>
#include <optional>
#include <string>

#include "gpu/device/cluster.hpp"

#include "cases/commands/command.hpp"
#include "cases/commands/interrupt.hpp"
#include "cases/reconstruct/reconstruction.hpp"

/// The command `reconstruct`, whichever program it is part of: that which the user starts, or a
/// worker of it on devices of its own. It knows nothing of how operators are compiled: that is up
/// to whoever links it.
namespace rankcheck::cases::reconstruct {

/// What the user asks for.
struct Options {
  std::string file = {};
  std::string solver = {};
  /// Of the frames' noise; empty: the solver's own.
  std::string model = {};
  std::string backend = "sim";
  /// 0: as many as there are, or 1.
  int ranks = 0;
  std::string partition = "compact";
  std::string layout = "replicated";
  std::string start = "flat";
  /// Metres; none: what goes best.
  std::optional<double> defocus = {};
  Course course{.save_every = 10};
  /// 0: as the solver likes.
  int batches = 0;
  /// 0: as the data's probe.
  int modes = 0;
  std::string checkpoint = {};
  std::string resume = {};
  std::string output = "reconstruction.cxi";
  std::string pictures = {};
  std::string progress = "auto";
};

/// Adds the command, whose callback leaves in the context what `run` returns: an exit status.
/// `context` must outlive the app.
void add_command(CLI::App& app,
                 Context& context,
                 const std::function<int(const Options& options)>& run);

/// Runs the command with the arguments of a worker program, the command's name first; returns the
/// exit status. Throws BadInput and CLI::ParseError, and what `run` throws. Of several processes
/// with the same arguments, one answers `--help`.
[[nodiscard]] int run_command(int argc,
                              char** argv,
                              bool answers,
                              const std::function<int(const Options& options)>& run);

/// Reconstructs with the ranks of this process; that with rank 0 alone prints and writes. Returns
/// the exit status. Throws BadInput, and what the cluster throws.
[[nodiscard]] int reconstruct_on(gpu::Cluster& cluster,
                                 const Options& options,
                                 const Interrupt& interrupt);

}  // namespace rankcheck::cases::reconstruct
