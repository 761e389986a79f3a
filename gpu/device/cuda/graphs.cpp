#include "gpu/device/cuda/graphs.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"

namespace rankcheck::gpu::cuda {

namespace {

/// Appends the bytes of numbers, pointers and enumerators. These types have no padding bytes.
template <class... Values>
void append(std::string& key, const Values&... values) {
  static_assert((std::is_scalar_v<Values> && ...));
  (key.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
}

void append(std::string& key, const plan::Range& range) {
  append(key, range.rank, range.buffer, range.offset, range.count);
}

/// Finds the ranks that have steps or whose entry others wait for. Gives rank 0 if there are none.
void find_ranks(const plan::Plan& plan, std::vector<int>& ranks) {
  std::vector<bool> takes_part(plan.steps.size(), false);
  for (std::size_t r = 0; r < plan.steps.size(); ++r) {
    if (!plan.steps[r].empty()) takes_part[r] = true;
    for (const plan::Step& step : plan.steps[r]) {
      const bool is_entry = step.kind == plan::StepKind::wait && step.event.id < plan.ranks();
      if (is_entry) takes_part[spec::to_size(step.event.id)] = true;
    }
  }
  ranks.clear();
  for (std::size_t r = 0; r < takes_part.size(); ++r) {
    if (takes_part[r]) ranks.push_back(static_cast<int>(r));
  }
  if (ranks.empty()) ranks.push_back(0);
}

}  // namespace

bool wants_graphs() {
  const char* const value = std::getenv(graphs_variable);
  const std::string_view wanted = value == nullptr ? "1" : value;
  if (wanted == "0" || wanted == "1") return wanted == "1";
  throw DeviceError(std::string(graphs_variable) + ": got " + std::string(wanted) +
                    ", expected 0 or 1");
}

std::string key_of(const PlanCall& call) {
  std::string key;
  append(key, call.plan.events, call.plan.ranks());
  for (const plan::Arithmetic& each : call.plan.arithmetic) append(key, each.type, each.op);
  for (const int divisor : call.plan.divisors) append(key, divisor);
  for (const int device : call.placement) append(key, device);
  append(key, call.plan.groups.size());
  for (const int group : call.plan.groups) append(key, group);
  for (const RankMemory& each : call.memory) {
    append(key, each.send, each.recv, each.scratch, each.scalar);
  }
  for (const auto& program : call.plan.steps) {
    append(key, program.size());
    for (const plan::Step& step : program) {
      append(key, step.kind, step.finish, step.event.id, step.source_count);
      append(key, step.destination);
      for (const plan::Range& source : call.plan.sources_of(step)) append(key, source);
    }
  }
  return key;
}

Graphs::Graphs(Streams& streams, std::size_t kept_max, Key key)
    : streams_(streams), kept_max_(kept_max), key_(std::move(key)) {}

void Graphs::enqueue(const PlanCall& call) {
  if (kept_max_ == 0) {
    cuda::enqueue(call, streams_);
    return;
  }
  std::string key = key_(call);
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    cuda::enqueue(call, streams_);
    if (entries_.size() == kept_max_) forget_oldest();
    entries_.emplace(std::move(key), Entry{.used = ++uses_});
    return;
  }
  Entry& entry = found->second;
  entry.used = ++uses_;
  find_ranks(call.plan, ranks_);
  // The first rank's stream stands for all of them: the other ranks' earlier work is done before
  // the graph, and their later work after it.
  join(call.plan.events);
  if (entry.graph < 0) entry.graph = capture(call);
  streams_.replay(ranks_.front(), entry.graph);
  fork(call.plan.events);
}

std::int32_t Graphs::capture(const PlanCall& call) {
  const int n = call.plan.ranks();
  streams_.begin_capture(ranks_.front());
  try {
    // These event numbers follow the numbers of join() and fork() in enqueue(). Those events are
    // not part of the graph.
    fork(call.plan.events + n);
    cuda::enqueue(call, streams_);
    join(call.plan.events + 2 * n);
  } catch (...) {
    // During a capture, nobody could ask whether the device still works.
    streams_.abandon_capture(ranks_.front());
    throw;
  }
  return streams_.end_capture(ranks_.front());
}

void Graphs::join(std::int32_t first_event) {
  const int first = ranks_.front();
  for (const int r : ranks_) {
    if (r == first) continue;
    streams_.record(r, first_event + r);
    streams_.wait(first, first_event + r);
  }
}

void Graphs::fork(std::int32_t event) {
  if (ranks_.size() == 1) return;
  streams_.record(ranks_.front(), event);
  for (const int r : ranks_) {
    if (r != ranks_.front()) streams_.wait(r, event);
  }
}

void Graphs::forget_oldest() {
  const auto oldest =
      std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
        return a.second.used < b.second.used;
      });
  if (oldest->second.graph >= 0) streams_.drop(oldest->second.graph);
  entries_.erase(oldest);
}

}  // namespace rankcheck::gpu::cuda
