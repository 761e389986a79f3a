#include "cases/reconstruct/requirements.hpp"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "harness/case/case.hpp"
#include "harness/run/memory.hpp"
#include "harness/run/outputs.hpp"

#include "cases/reconstruct/focus.hpp"
#include "cases/reconstruct/solvers.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

using harness::BadInput;

/// Throws BadInput if an output would replace a file that is needed.
void require_own_places(const Options& options) {
  const std::array<std::pair<const char*, const std::string&>, 4> places{
      {{"the data", options.file},
       {"the output", options.output},
       {"the checkpoint", options.checkpoint},
       {"the pictures", options.pictures}}};
  const auto require_other = [](const std::string& path, const char* what, const std::string& of) {
    if (path.empty() || of.empty() || !harness::run::is_same_file(path, of)) return;
    throw BadInput(fmt::format("{}: expected another file than {}", path, what));
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      require_other(places[i].second, places[j].first, places[j].second);
    }
  }
  require_other(options.output, "the checkpoint", options.resume);
}

/// Throws BadInput if the arrays that the solver remembers for every position do not fit into this
/// machine's memory. They need it twice: on the devices, and where the state is saved.
void require_room_for_waves(const Solver& solver, const Problem& problem, int modes) {
  spec::Scene scene = problem.data.scene();
  scene.modes = modes;
  double bytes = 0;
  for (const spec::Array array : solver.remembers) {
    if (!spec::is_per_position(scene, array)) continue;
    bytes += 2.0 * sizeof(float) * static_cast<double>(spec::components(scene, array)) *
             static_cast<double>(problem.data.count);
  }
  harness::run::require_memory(
      fmt::format("--solver {}", solver.name), "the exit waves of all positions", bytes);
}

void require_start(const Options& options, const Dataset& data) {
  if (options.start == "file" && !data.has_object) {
    if (!data.object_fault.empty()) throw BadInput("--start file: " + data.object_fault);
    throw BadInput("--start file: got data without an object, expected entry_1/image_1/data");
  }
  if (options.defocus && data.has_probe) {
    throw BadInput(
        fmt::format("--defocus: {} has a probe, expected data without one", options.file));
  }
}

void require_batches(const Solver& solver, int batches, const Dataset& data) {
  if (solver.batches == 1 && batches != 1) {
    throw BadInput(fmt::format("--batches: got {}, expected 1, because {} takes all frames at once",
                               batches,
                               solver.name));
  }
  if (batches < 1 || batches > data.count) {
    throw BadInput(
        fmt::format("--batches: got {}, expected 1 to {}, the positions", batches, data.count));
  }
}

void require_steps(const Options& options, const Result& from) {
  const StepBudget& budget = options.budget;
  if (budget.iterations < from.iterations) {
    throw BadInput(fmt::format("--iterations: got {}, expected at least {}, the number in {}",
                               budget.iterations,
                               from.iterations,
                               options.resume));
  }
  const std::int64_t done = from.iterations * from.batches;
  const std::int64_t last = budget.iterations * from.batches;
  if (budget.check_every == 0 || last / budget.check_every > done / budget.check_every) return;
  if (last == done) throw BadInput("--verify: got no step to run, expected at least one");
  throw BadInput(fmt::format(
      "--verify: got {}, expected a K that divides the number of a step to run, {} to {}",
      budget.check_every,
      done + 1,
      last));
}

/// Throws BadInput if the ranks' objects and exit waves do not fit into this machine's memory.
void require_room(const Solver& solver, const Problem& problem, int modes) {
  // Devices with queues have their own memory and report themselves when it is used up.
  if (problem.cluster.queue(problem.cluster.local().front()) != nullptr) return;
  require_room_for_waves(solver, problem, modes);
  if (problem.layout == Layout::tiles) return;
  const auto pixels = static_cast<double>(problem.data.object.size());
  const int ranks = problem.cluster.ranks();
  const double exchanged =
      static_cast<double>(stretch_max) * sizeof(decltype(problem.data.object)::value_type);
  harness::run::require_memory(
      "--ranks", ranks, ranks * (pixels * static_cast<double>(solver.bytes_per_pixel) + exchanged));
}

}  // namespace

void require_sense(const Options& options) {
  require_own_places(options);
  harness::run::require_writable_file(options.output);
  if (!options.checkpoint.empty()) harness::run::require_writable_file(options.checkpoint);
  if (!options.pictures.empty()) harness::run::require_writable_folder(options.pictures);
}

void require_fit(const Options& options,
                 const Solver& solver,
                 const Result& from,
                 const Problem& problem,
                 int modes) {
  require_start(options, problem.data);
  require_batches(solver, from.batches, problem.data);
  require_steps(options, from);
  require_room(solver, problem, modes);
  // The reference runs in this process on any backend.
  if (options.budget.check_every == 0) return;
  harness::run::require_memory(fmt::format("--verify {}", options.budget.check_every),
                               "the reference's arrays of a step's frames",
                               check_bytes(problem.data, modes, from.batches));
}

void require_near_focus(const Options& options, const Dataset& data, const Shards& shards) {
  if (!options.defocus) return;
  const double most = defocus_most(data, shards.mean_frame());
  if (std::abs(*options.defocus) <= most) return;
  throw BadInput(fmt::format(
      "--defocus: got {}, expected at most {:.3g} metres, at which the probe fills its window",
      *options.defocus,
      most));
}

}  // namespace rankcheck::cases::reconstruct
