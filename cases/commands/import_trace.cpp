#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/table.hpp"
#include "harness/check/operation.hpp"
#include "harness/run/exit_status.hpp"

#include "cases/backends/registry.hpp"
#include "cases/commands/options.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/suites/catalogue.hpp"
#include "cases/traces/trace.hpp"

namespace rankcheck::cases {

namespace {

using harness::BadInput;
using harness::Case;
using traces::Trace;
using traces::TracedCall;

struct ImportOptions {
  std::vector<std::string> files;
  std::string backend = Case().backend;
  std::size_t calls = 16;
  std::int64_t count_max = 65536;
};

/// "all_reduce of 4 f32 with sum at trace:12".
std::string text_of(const TracedCall& traced) {
  const Case& c = traced.call;
  std::string text = c.operation;
  if (c.operation != "barrier") text += fmt::format(" of {} {}", c.count, spec::name(c.type));
  const CollectiveCase& own = collective(c);
  if (own.op != spec::ReduceOp::none) text += fmt::format(" with {}", spec::name(own.op));
  if (own.root != 0) text += fmt::format(" and root {}", own.root);
  return fmt::format("{} at {}", text, traced.place);
}

/// Throws BadInput if the ranks of a communicator are none of the world, or stand there twice.
void require_ranks(const Trace& trace) {
  if (trace.world > traces::ranks_max) {
    throw BadInput(fmt::format("got {} ranks, expected 1..{}", trace.world, traces::ranks_max));
  }
  for (const auto& [name, ranks] : trace.communicators) {
    const std::set<int> sorted(ranks.begin(), ranks.end());
    const bool differ = sorted.size() == ranks.size();
    if (differ && *sorted.begin() >= 0 && *sorted.rbegin() < trace.world) continue;
    throw BadInput(
        fmt::format("communicator {}: got the ranks {}, expected different ones in 0..{}",
                    harness::printable(name),
                    fmt::join(ranks, ","),
                    trace.world - 1));
  }
}

/// The calls that are left of each rank whose calls are known.
using Left = std::map<int, std::span<const TracedCall>>;

/// The first member of the call's communicator whose next call is on another one. The end if there
/// is none.
Left::const_iterator first_elsewhere(const Trace& trace, const Left& left, const TracedCall& call) {
  for (const int member : trace.communicators.at(call.communicator)) {
    const auto known = left.find(member);
    if (known == left.end()) continue;
    const auto& calls = known->second;
    if (calls.empty() || calls.front().communicator != call.communicator) return known;
  }
  return left.end();
}

/// Returns the calls of a run in an order in which all ranks can make them. `problems` gets a line
/// for each two ranks that do not make the same call. Ranks that wait for one another end the
/// calls.
std::vector<Case> merge(const Trace& trace, std::vector<std::string>& problems) {
  require_ranks(trace);
  std::vector<Case> merged;
  Left left(trace.calls.begin(), trace.calls.end());
  const auto note = [&](int rank, const TracedCall& call, int other, const std::string& what) {
    problems.push_back(
        fmt::format("rank {} makes {}, and rank {} {}", rank, text_of(call), other, what));
  };
  const auto is_ready = [&](const auto& each) {
    const auto& calls = each.second;
    return !calls.empty() && first_elsewhere(trace, left, calls.front()) == left.end();
  };
  for (auto ready = std::ranges::find_if(left, is_ready); ready != left.end();
       ready = std::ranges::find_if(left, is_ready)) {
    const TracedCall& first = ready->second.front();
    const std::vector<int>& members = trace.communicators.at(first.communicator);
    Case& call = merged.emplace_back(first.call);
    call.ranks = trace.world;
    // The list stays empty for the whole world in order.
    call.group.clear();
    if (harness::members(call) != members) call.group = members;
    call.data_seed = merged.size();
    for (const int member : members) {
      const auto known = left.find(member);
      if (known == left.end()) continue;
      const TracedCall& other = known->second.front();
      if (other.call != first.call) note(ready->first, first, member, "makes " + text_of(other));
      known->second = known->second.subspan(1);
    }
  }
  // Whoever has a call now waits for a rank that does not come to it.
  for (const auto& [rank, calls] : left) {
    if (calls.empty()) continue;
    const auto& [other, others] = *first_elsewhere(trace, left, calls.front());
    const std::string what = others.empty()
                                 ? "has no more calls"
                                 : "makes " + text_of(others.front()) + " on another communicator";
    note(rank, calls.front(), other, what);
  }
  return merged;
}

/// Gives the call data that say where they come from if they are only moved.
void choose_input(Case& call) {
  if (call.input != Case().input) return;
  // Sums of general integers may overflow, which libraries leave undefined.
  const bool reduces = collective(call).op != spec::ReduceOp::none;
  if (reduces && spec::is_integer(call.type)) call.input = harness::InputKind::exact;
  if (!reduces) call.input = harness::InputKind::coded;
}

int import_trace(const ImportOptions& options) {
  // A backend that cannot run here may run elsewhere, but an unknown one is complained about.
  static_cast<void>(available_backends().find(options.backend));
  const Trace trace = traces::read_trace(options.files);
  std::vector<std::string> problems;
  std::vector<Case> calls = merge(trace, problems);
  std::int64_t cut = 0;
  for (Case& call : calls) {
    call.backend = options.backend;
    choose_input(call);
    const Case whole = call;
    call.count = std::min(call.count, options.count_max);
    for (std::int64_t& each : call.counts) each = std::min(each, options.count_max);
    if (call != whole) ++cut;
  }
  const auto catalogue = make_catalogue();
  std::vector<Case> cases;
  for (std::size_t at = 0; at < calls.size(); at += options.calls) {
    const std::size_t n = std::min(options.calls, calls.size() - at);
    const auto part = std::span(calls).subspan(at, n);
    Case& c = cases.emplace_back(part.back());
    c.property = "is_independent_of_history";
    c.earlier.assign(part.begin(), part.end() - 1);
    // Nothing comes after it.
    c.overlaps = false;
    const std::string why = why_invalid(catalogue, c);
    if (!why.empty()) throw BadInput(fmt::format("calls {} to {}: {}", at, at + n - 1, why));
  }
  for (const Case& each : cases) fmt::print("{}\n", harness::to_text(each));
  for (const std::string& each : problems) fmt::print(stderr, "{}\n", harness::printable(each));
  fmt::print(stderr, "ranks: {}, calls: {}, cases: {}", trace.world, calls.size(), cases.size());
  if (cut > 0) fmt::print(stderr, "; cut to {} (--count-max): {}", options.count_max, cut);
  for (const auto& [what, times] : trace.left_out) {
    fmt::print(stderr, "; left out: {} {}", times, harness::printable(what));
  }
  fmt::print(stderr, "\n");
  return problems.empty() ? harness::run::status_held : harness::run::status_failed;
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
      "each rank, or a JSON object of ranks and calls.")
      ->required();
  add("--backend NAME", options->backend, "The backend of the cases.");
  add("--calls N", options->calls, "The most calls of a case.")
      ->check(CLI::Range(1, harness::earlier_max + 1));
  add("--count-max N", options->count_max, "Longer counts become this one.")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  set_work(*command, context, "there was a result", [options](const auto& /*interrupt*/) {
    return import_trace(*options);
  });
}

}  // namespace rankcheck::cases
