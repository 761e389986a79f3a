#include <fmt/format.h>

#include "harness/base/nearest.hpp"
#include "harness/base/table.hpp"
#include "harness/case/image.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/memory.hpp"
#include "harness/search/engine.hpp"

#include "cases/backends/registry.hpp"
#include "cases/commands/options.hpp"
#include "cases/emit/mpi_program.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

using harness::BadInput;
using harness::Case;
using harness::Verdict;

void print_case(const harness::Catalogue& catalogue, const Case& c) {
  const harness::Operation& operation = *catalogue.find(c.operation);
  const harness::Property& property = *catalogue.find_property(c.operation, c.property);
  fmt::print("case       {}\n", harness::to_text(c));
  fmt::print("operation  {}: {}\n", c.operation, operation.contract.summary);
  fmt::print("property   {}: {}\n", c.property, property.summary);
}

void print_stages(const harness::Examiner& examiner) {
  const auto stages = examiner.stages();
  const std::vector<std::string>& path = examiner.observation().path;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    // A stage that failed has no path.
    const bool is_done = s < path.size() && !path[s].empty();
    fmt::print("stage {}    {}: {}\n",
               s,
               is_done ? "ran " + path[s] : "did not end",
               harness::to_text(stages[s]));
  }
}

int print_result(const harness::ReplayResult& result) {
  const harness::Judgement& judgement = result.judgement;
  print_verdict(result.verdict, judgement.reason);
  fmt::print("replays    {} of {} failed\n", result.failed, result.replays);
  print_compared(judgement);
  if (is_red(result.verdict)) return harness::run::status_failed;
  if (result.verdict != Verdict::errored && result.verdict != Verdict::skipped)
    return harness::run::status_held;
  std::fflush(stdout);
  constexpr std::size_t bytes_max = 200;
  fmt::print(stderr,
             "rankcheck: case: could not be run: {}\n",
             harness::shortened(judgement.reason, bytes_max));
  return harness::run::status_unable;
}

/// Prints a program that makes the case's calls without rankcheck.
int emit_case(const std::string& text_or_path,
              const std::string& language,
              const harness::StopRequest& stop) {
  if (language != "c") throw BadInput("--emit: got " + language + ", expected c");
  const harness::Catalogue catalogue = make_catalogue();
  const Case c = read_case(catalogue, text_or_path);
  const auto backend = open_for(catalogue, c, stop, harness::BackendOptions().timeout_s);
  if (backend->traits().name != "mpi") {
    throw BadInput(fmt::format("--emit c: backend: got {}, expected mpi", c.backend));
  }
  fmt::print("{}", emit::mpi_program(catalogue, *backend, c));
  return harness::run::status_held;
}

int replay_case(const std::string& text_or_path,
                int times,
                double timeout_s,
                const harness::StopRequest& stop) {
  if (!(timeout_s > 0)) {
    throw BadInput(fmt::format("--timeout: {}: expected a number of seconds above 0", timeout_s));
  }
  if (times < 1) throw BadInput(fmt::format("--times: {}: expected a number above 0", times));
  const harness::Catalogue catalogue = make_catalogue();
  const Case c = read_case(catalogue, text_or_path);
  const std::unique_ptr<harness::Backend> backend = open_for(catalogue, c, stop, timeout_s);
  print_case(catalogue, c);
  harness::Examiner examiner(catalogue, *backend);
  const harness::ReplayResult result =
      harness::replay(examiner, c, {.replays = times, .stop = stop});
  print_stages(examiner);
  const int status = print_result(result);
  const auto failure = backend->close();
  if (!failure) return status;
  fmt::print("afterwards {}\n", harness::printable(failure->reason));
  return harness::run::status_failed;
}

void require_claimed(const harness::Catalogue& catalogue, const Case& c) {
  const harness::Operation* operation = catalogue.find(c.operation);
  if (operation == nullptr || catalogue.find_property(c.operation, c.property) != nullptr) return;
  std::vector<std::string> claimed;
  for (const harness::Property& each : operation->properties) claimed.emplace_back(each.name);
  throw BadInput(fmt::format("case: property: {:.60}: expected a property that {} claims{}",
                             c.property,
                             c.operation,
                             harness::did_you_mean(c.property, claimed)));
}

/// Throws BadInput unless the case fits into the memory that is available, as in a run.
void require_memory_for(const harness::Catalogue& catalogue, const Case& c) {
  const std::int64_t memory = harness::run::available_memory();
  if (fits_into_memory(catalogue, c, memory)) return;
  constexpr double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;
  throw BadInput(
      fmt::format("case: the buffers of {} ranks are too large: expected at most {:.1f} GiB, "
                  "1/{} of the memory that is available here",
                  group_size(c),
                  static_cast<double>(memory) / harness::image_copies / bytes_per_gib,
                  harness::image_copies));
}

}  // namespace

std::unique_ptr<harness::Backend> open_for(const harness::Catalogue& catalogue,
                                           const Case& c,
                                           const harness::StopRequest& stop,
                                           double timeout_s) {
  require_claimed(catalogue, c);
  if (const std::string why = harness::why_invalid(catalogue, c); !why.empty()) {
    throw BadInput("case: " + why);
  }
  require_memory_for(catalogue, c);
  available_backends().require(c.backend);
  auto backend = available_backends().open(
      c.backend,
      {.ranks_max = c.ranks, .timeout_s = timeout_s, .stop = stop, .shows_error_output = true});
  // A stage has no earlier calls, so the backend is asked about each stage.
  for (const Case& stage : program_of(catalogue, c)) {
    const std::string why = backend->why_refused(stage);
    if (why.empty()) continue;
    throw BadInput(
        fmt::format("case: {}: expected a case that the backend takes: {}", c.backend, why));
  }
  return backend;
}

void add_replay(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("replay", "Runs one case again and prints everything about it.");
  struct Options {
    std::string text;
    int times = 5;
    double timeout_s = harness::BackendOptions().timeout_s;
    std::string language;
  };
  const auto options = std::make_shared<Options>();
  const AddOption add{*command};
  add("case CASE", options->text, "The case as JSON text, or a file that contains it.")->required();
  add("--times N", options->times, "The number of replays.");
  add("--timeout SECONDS",
      options->timeout_s,
      "A replay counts as hung after so many seconds without an answer.");
  add("--emit LANGUAGE",
      options->language,
      "Prints a program in this language that makes the same calls without rankcheck: c.");
  set_work(*command, context, "there was a result", [options](const auto& interrupt) {
    if (!options->language.empty()) {
      return emit_case(options->text, options->language, interrupt.stop());
    }
    return replay_case(options->text, options->times, options->timeout_s, interrupt.stop());
  });
}

}  // namespace rankcheck::cases
