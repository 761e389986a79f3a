#include <cstdlib>

#include "tests/gpu/device/cuda/stand_in/faults.hpp"
#include "tests/gpu/device/cuda/stand_in/streams.hpp"

using rankcheck::stand_in::answer;
using rankcheck::stand_in::Capture;
using rankcheck::stand_in::is_planted;
using rankcheck::stand_in::Node;
using rankcheck::stand_in::Scheduler;
using rankcheck::stand_in::Task;
using rankcheck::stand_in::TaskPtr;

struct CUgraph_st {
  std::vector<Node> nodes;
};

struct CUgraphExec_st {
  std::vector<Node> nodes;
  TaskPtr last_launch = nullptr;
};

namespace {

std::set<std::shared_ptr<Capture>>& captures() {
  static std::set<std::shared_ptr<Capture>> all;
  return all;
}

/// Whether all work of all streams is behind or among what the origin's next work would wait for.
bool is_joined(const Capture& capture) {
  std::vector<bool> reached(capture.nodes.size(), false);
  for (const std::size_t each : capture.origin->front) reached[each] = true;
  for (std::size_t n = capture.nodes.size(); n-- > 0;) {
    if (!reached[n]) return false;
    for (const std::size_t wait : capture.nodes[n].waits) reached[wait] = true;
  }
  return true;
}

}  // namespace

bool rankcheck::stand_in::breaks_captures() {
  for (const auto& each : captures()) each->is_broken = true;
  return !captures().empty();
}

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
  for (const cudaStream_t each : capture->streams) {
    each->capture = nullptr;
    each->front.clear();
  }
  // Events that were recorded in it know by this that it is over.
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
  *runnable = new CUgraphExec_st{graph->nodes};
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
  // Behind the stream's earlier work and the graph's own last launch.
  Task whole{.device = stream->device, .waits = {stream->tail, runnable->last_launch}};
  const TaskPtr begin = Scheduler::get().add(whole);
  whole.waits = {begin};
  std::vector<TaskPtr> tasks;
  for (const Node& node : runnable->nodes) {
    Task task = node.task;
    task.waits = {begin};
    if (!is_planted("loose_graph")) {
      for (const std::size_t wait : node.waits) task.waits.push_back(tasks[wait]);
    }
    tasks.push_back(Scheduler::get().add(std::move(task)));
    whole.waits.push_back(tasks.back());
  }
  stream->tail = Scheduler::get().add(std::move(whole));
  runnable->last_launch = stream->tail;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runnable) {
  if (runnable == nullptr) return answer(cudaErrorInvalidValue);
  // What was launched is done all the same.
  delete runnable;
  return cudaSuccess;
}
