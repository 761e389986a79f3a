#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "harness/base/bad_input.hpp"
#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/check/operation.hpp"
#include "harness/run/exit_status.hpp"

#include "cases/commands/options.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/suites/catalogue.hpp"
#include "cases/traces/trace.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;

struct ImportOptions {
  std::vector<std::string> files;
  std::string backend = Case().backend;
  std::size_t calls = 16;
  std::int64_t count_max = 65536;
};

/// Cuts long counts. Returns whether there were any.
bool cut_counts(std::int64_t count_max, Case& call) {
  const auto is_long = [&](std::int64_t count) { return count > count_max; };
  const bool is_cut = is_long(call.count) || std::ranges::any_of(call.counts, is_long);
  call.count = std::min(call.count, count_max);
  std::ranges::replace_if(call.counts, is_long, count_max);
  return is_cut;
}

/// Gives the call data that say where they come from if they are only moved.
void choose_input(Case& call) {
  if (call.input != Case().input) return;
  // Sums of general integers may overflow, which libraries leave undefined.
  const bool reduces = collective(call).op != spec::ReduceOp::none;
  if (reduces && spec::is_integer(call.type)) call.input = harness::InputKind::exact;
  if (!reduces) call.input = harness::InputKind::coded;
}

/// The case of consecutive calls: the last one, and those before it.
Case case_of(std::span<const Case> calls) {
  Case c = calls.back();
  c.property = "is_independent_of_history";
  c.earlier.assign(calls.begin(), calls.end() - 1);
  // Nothing comes after it.
  c.overlaps = false;
  return c;
}

int import_trace(const ImportOptions& options) {
  std::vector<traces::TraceFile> files;
  for (const std::string& each : options.files) {
    files.push_back({.path = each, .text = harness::read_file(each)});
  }
  const traces::Trace trace = traces::read_trace(files);
  traces::MergedCalls merged = traces::merge(trace);
  std::int64_t cut = 0;
  for (Case& call : merged.calls) {
    call.backend = options.backend;
    choose_input(call);
    cut += cut_counts(options.count_max, call) ? 1 : 0;
  }
  const auto catalogue = make_catalogue();
  std::vector<Case> cases;
  for (std::size_t at = 0; at < merged.calls.size(); at += options.calls) {
    const std::size_t n = std::min(options.calls, merged.calls.size() - at);
    cases.push_back(case_of(std::span(merged.calls).subspan(at, n)));
    const std::string why = why_invalid(catalogue, cases.back());
    if (!why.empty())
      throw harness::BadInput(fmt::format("calls {} to {}: {}", at, at + n - 1, why));
  }
  for (const Case& each : cases) fmt::print("{}\n", harness::to_text(each));
  for (const std::string& each : merged.problems)
    fmt::print(stderr, "{}\n", harness::printable(each));
  fmt::print(
      stderr, "ranks: {}, calls: {}, cases: {}", trace.world, merged.calls.size(), cases.size());
  if (cut > 0) fmt::print(stderr, "; cut to {} (--count-max): {}", options.count_max, cut);
  for (const auto& [what, times] : trace.left_out) {
    fmt::print(stderr, "; left out: {} {}", times, harness::printable(what));
  }
  fmt::print(stderr, "\n");
  return merged.problems.empty() ? harness::run::status_held : harness::run::status_failed;
}

}  // namespace

void add_import_trace(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "import-trace", "Prints the calls of a production run as cases, one in each line.");
  const auto options = std::make_shared<ImportOptions>();
  const AddOption add{*command, true};
  add("files FILE",
      options->files,
      "Logs of NCCL with NCCL_DEBUG_SUBSYS=INIT,COLL, PyTorch's flight records in JSON, one for "
      "each "
      "rank, or a JSON object of ranks and calls.")
      ->required();
  add("--backend B", options->backend, "The backend of the cases.");
  add("--calls N", options->calls, "The most calls of a case.")
      ->check(CLI::Range(1, harness::earlier_max + 1));
  add("--count-max N", options->count_max, "Longer counts become this one.")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  set_work(*command, context, "there was a result", [options](const auto& /*interrupt*/) {
    return import_trace(*options);
  });
}

}  // namespace rankcheck::cases
