#include "harness/conformance/check_worker.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/run/exit_status.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/commands/options.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

using harness::BadInput;
using harness::conformance::Outcome;
using harness::conformance::Step;

/// What a worker may be: the prefix of a backend, and how its workers are started.
struct Kind {
  std::string_view prefix;
  std::string (*why_unavailable)(const std::string& line);
  harness::worker::WorkerOptions (*options)(const std::string& line,
                                            const harness::BackendOptions& options);
};

/// The first is the kind of a line without a prefix.
constexpr std::array<Kind, 3> kinds{{
    {"command:", why_command_unavailable, options_of_command},
    {"python:", why_python_unavailable, options_of_python},
    {"listen:", why_listen_unavailable, options_of_listen},
}};

struct CheckWorkerOptions {
  std::string line;
  std::string operation;
  int ranks = 4;
  double timeout_s = 20;
};

constexpr std::string_view word(Outcome outcome) {
  constexpr std::array<std::string_view, 3> words{"ok", "wrong", "not checked"};
  return words[static_cast<std::size_t>(outcome)];
}

void print_step(const Step& step) {
  const auto print_below = [](std::string_view text) {
    fmt::print("{:22}  {}\n", "", harness::printable(text));
  };
  fmt::print("{:10} {:11}  {}\n",
             harness::conformance::topic_names[static_cast<std::size_t>(step.topic)],
             word(step.outcome),
             harness::printable(step.text));
  for (const std::string& each : step.hints) print_below("hint: " + each);
  if (!step.also.empty()) print_below("also: " + harness::first_of(step.also, 8));
  if (!step.failing_case.empty()) print_below("case: " + step.failing_case);
  if (!step.page.empty()) print_below("see " + step.page);
}

const Kind* kind_of(const std::string& line) {
  const auto* const found = std::find_if(
      kinds.begin(), kinds.end(), [&](const Kind& each) { return line.starts_with(each.prefix); });
  return found == kinds.end() ? nullptr : found;
}

/// Returns the name of the backend, which the option --backend of `run` takes.
std::string backend_of(const std::string& line) {
  return kind_of(line) != nullptr ? line : std::string(kinds.front().prefix) + line;
}

harness::worker::WorkerOptions worker_of(const std::string& backend,
                                         const harness::BackendOptions& options) {
  const Kind& kind = *kind_of(backend);
  const std::string line = backend.substr(kind.prefix.size());
  const std::string why = kind.why_unavailable(line);
  if (!why.empty()) throw BadInput(why);
  try {
    return kind.options(line, options);
  } catch (const BadInput&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw BadInput(fmt::format("{}: {}", backend, error.what()));
  }
}

int check(const CheckWorkerOptions& options,
          const std::string& program,
          const harness::StopRequest& stop) {
  const harness::Catalogue catalogue = make_catalogue();
  const std::string backend = backend_of(options.line);
  const harness::worker::WorkerOptions worker = worker_of(
      backend, {.ranks_max = options.ranks, .timeout_s = options.timeout_s, .stop = stop});
  const std::vector<Step> steps = harness::conformance::check_worker(
      catalogue,
      worker,
      {.backend = backend, .operation = options.operation, .ranks_max = options.ranks});
  fmt::print("worker     {}\n", harness::printable(backend));
  std::int64_t wrong = 0;
  for (const Step& each : steps) {
    print_step(each);
    wrong += each.outcome == Outcome::wrong ? 1 : 0;
  }
  if (wrong > 0) {
    fmt::print("{} wrong\n", harness::counted(wrong, "step is", "steps are"));
    return harness::run::status_failed;
  }
  fmt::print(
      "The worker keeps to the protocol. Whether its results are right, this command says:\n"
      "{} run smoke --backend {}\n",
      program,
      harness::shell_quoted(backend));
  return harness::run::status_held;
}

}  // namespace

void add_check_worker(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "check-worker", "Checks whether a worker of your own keeps to the worker protocol.");
  const auto options = std::make_shared<CheckWorkerOptions>();
  const AddOption add{*command, true};
  add("line LINE",
      options->line,
      "The line that starts the worker, as behind --backend command:, or python:FILE, or "
      "listen:ADDRESS.")
      ->required();
  add("--operation NAME", options->operation, "The only operation to check.");
  add("--ranks N", options->ranks, "The most ranks of a case.")
      ->check(CLI::Range(1, harness::worker::world_ranks_max));
  add("--timeout S",
      options->timeout_s,
      "The seconds without an answer after which the worker counts as hung.")
      ->check(CLI::Range(0.001, harness::worker::timeout_max_s));
  set_work(*command, context, "the checks were over", [options, &context](const auto& interrupt) {
    return check(*options, context.program, interrupt.stop());
  });
}

}  // namespace rankcheck::cases
