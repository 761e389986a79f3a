#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "tests/gpu/device/cuda/stand_in/faults.hpp"
#include "tests/gpu/device/cuda/stand_in/memory.hpp"
#include "tests/gpu/device/cuda/stand_in/streams.hpp"

struct CUgraph_st {
  std::vector<rankcheck::stand_in::Node> nodes;
};

struct CUgraphExec_st {
  /// Bytes of a device and their values.
  using Bytes = std::vector<std::pair<std::byte*, std::byte>>;

  std::vector<rankcheck::stand_in::Node> nodes;
  rankcheck::stand_in::TaskPtr last_launch = nullptr;
  /// With the fault `old_data`: the bytes that the first launch has written. Later launches repeat
  /// them.
  std::shared_ptr<Bytes> written = nullptr;
};

namespace rankcheck::stand_in {

namespace {

using Bytes = CUgraphExec_st::Bytes;

std::set<std::shared_ptr<Capture>>& captures() {
  static std::set<std::shared_ptr<Capture>> all;
  return all;
}

/// Whether the work of all streams comes before the origin's next work, directly or through other
/// work.
bool is_joined(const Capture& capture) {
  std::vector<bool> reached(capture.nodes.size(), false);
  for (const std::size_t each : capture.origin->front) reached[each] = true;
  for (std::size_t n = capture.nodes.size(); n-- > 0;) {
    if (!reached[n]) return false;
    for (const std::size_t wait : capture.nodes[n].waits) reached[wait] = true;
  }
  return true;
}

/// Returns the bytes that differ between two snapshots of the same memory, with their new values.
Bytes changes(const std::vector<Held>& before, const std::vector<Held>& after) {
  Bytes all;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const std::size_t bytes = std::min(before[i].bytes.size(), after[i].bytes.size());
    for (std::size_t b = 0; b < bytes; ++b) {
      const std::byte now = after[i].bytes[b];
      if (before[i].bytes[b] != now) all.emplace_back(after[i].begin + b, now);
    }
  }
  return all;
}

/// Plants the fault `old_data`: the first launch remembers what it writes, and later launches write
/// these bytes again.
void keep_old_data(CUgraphExec_st& graph, Task& begin, Task& end, std::vector<Node>& nodes) {
  constexpr std::uint64_t all_devices = ~std::uint64_t{0};
  begin.opens = end.opens = all_devices;
  if (graph.written != nullptr) {
    nodes.clear();
    end.work = [written = graph.written] {
      for (const auto& [at, value] : *written) *at = value;
    };
    return;
  }
  graph.written = std::make_shared<Bytes>();
  const auto before = std::make_shared<std::vector<Held>>();
  begin.work = [before] { *before = held(all_devices); };
  end.work = [before, written = graph.written] { *written = changes(*before, held(all_devices)); };
}

/// Gives the work of the graph to the stream.
void launch(CUgraphExec_st& runnable, cudaStream_t stream) {
  // The launch waits for the stream's earlier work and for the graph's previous launch.
  const TaskPtr before = is_planted("launch_overtakes") ? nullptr : stream->tail;
  Task begin{.device = stream->device, .waits = {before, runnable.last_launch}};
  Task end{.device = stream->device};
  std::vector<Node> nodes = runnable.nodes;
  if (is_planted("old_data")) keep_old_data(runnable, begin, end, nodes);
  const TaskPtr begun = Scheduler::get().add(std::move(begin));
  end.waits = {begun};
  std::vector<TaskPtr> tasks;
  for (Node& node : nodes) {
    Task& task = node.task;
    task.waits = {begun};
    if (!is_planted("loose_graph")) {
      for (const std::size_t wait : node.waits) task.waits.push_back(tasks[wait]);
    }
    tasks.push_back(Scheduler::get().add(std::move(task)));
    end.waits.push_back(tasks.back());
  }
  runnable.last_launch = Scheduler::get().add(std::move(end));
  stream->tail = runnable.last_launch;
}

}  // namespace

bool breaks_captures() {
  for (const auto& each : captures()) each->is_broken = true;
  return !captures().empty();
}

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  if (stream == nullptr) return answer(cudaErrorStreamCaptureUnsupported);
  if (stream->capture != nullptr) return answer(cudaErrorInvalidValue);
  if (is_planted("no_graphs")) return answer(cudaErrorNotSupported);
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->streams = {stream};
  stream->front.clear();
  captures().insert(stream->capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (stream == nullptr || stream->capture == nullptr) return answer(cudaErrorInvalidValue);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream) {
    capture->is_broken = true;
    return answer(cudaErrorStreamCaptureUnmatched);
  }
  const bool joined = is_joined(*capture);
  captures().erase(capture);
  for (cudaStream_t each : capture->streams) {
    each->capture = nullptr;
    each->front.clear();
  }
  // A null origin tells events that were recorded in this capture that it is over.
  capture->origin = nullptr;
  if (capture->is_broken) return answer(cudaErrorStreamCaptureInvalidated);
  if (!joined) return answer(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{std::move(capture->nodes)};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* runnable,
                                 cudaGraph_t graph,
                                 unsigned long long /*flags*/) {
  if (graph == nullptr) return answer(cudaErrorInvalidValue);
  static std::vector<Node> before;
  const bool is_old = is_planted("old_addresses") && !before.empty();
  *runnable = new CUgraphExec_st{is_old ? before : graph->nodes};
  before = graph->nodes;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (graph == nullptr) return answer(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t runnable, cudaStream_t stream) {
  if (runnable == nullptr || stream == nullptr) return answer(cudaErrorInvalidValue);
  if (stream->capture != nullptr) return answer(cudaErrorNotSupported);
  if (is_planted("lost_replay")) return cudaSuccess;
  const auto launched = [runnable, stream] { launch(*runnable, stream); };
  if (is_planted("overtaken_launch")) {
    stream->late_launches.emplace_back(launched);
  } else {
    launched();
  }
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runnable) {
  if (runnable == nullptr) return answer(cudaErrorInvalidValue);
  // Work that was already launched is still done.
  delete runnable;
  return cudaSuccess;
}

}  // extern "C"

}  // namespace rankcheck::stand_in
