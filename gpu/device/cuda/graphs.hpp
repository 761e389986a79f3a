#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gpu/device/cuda/enqueue.hpp"

namespace rankcheck::gpu::cuda {

/// A call that becomes work on streams.
struct PlanCall {
  const plan::Plan& plan;
  spec::Type type;
  spec::ReduceOp op;
  /// Of each rank.
  std::span<const RankMemory> memory;
  /// The device, and with it the stream, of each rank.
  std::span<const int> placement;
};

/// All that makes the work of a call what it is, its buffers' addresses included: calls with one
/// key are the same work.
[[nodiscard]] std::string key_of(const PlanCall& call);

/// Of the environment: 0 where nothing is to be made a graph, so that what still fails is no defect
/// of graphs; 1, or not there, where calls are.
inline constexpr const char* graphs_variable = "RANKCHECK_CUDA_GRAPHS";
/// What the variable says. Throws DeviceError where that is something else.
[[nodiscard]] bool wants_graphs();

/// Enqueues calls as enqueue() does, and keeps the work of those that come again: the second time
/// it is captured, and from then on replayed in one launch. A graph is work of one stream, so that
/// captured calls synchronise more than their plan asks for: work that was given before to the
/// streams of all ranks that have a part in the plan is done before all of it, and what they are
/// given afterwards is done after all of it. Where that is what a call is to do itself, enqueue()
/// it. Ranks without a part wait for nobody.
class Graphs {
 public:
  using Key = std::function<std::string(const PlanCall& call)>;

  /// `streams` must outlive it. Keeps the graphs of at most so many calls, the last used ones.
  explicit Graphs(Streams& streams,
                  std::size_t kept_max = wants_graphs() ? 64 : 0,
                  Key key = key_of);
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  void enqueue(const PlanCall& call);

 private:
  struct Entry {
    std::int32_t graph = -1;
    std::uint64_t used = 0;
  };

  /// Lets the stream of the first of ranks() wait for all others', or all others' for that.
  void join(std::int32_t first_event);
  void fork(std::int32_t event);
  std::int32_t capture(const PlanCall& call);
  void forget_oldest();

  Streams& streams_;
  std::size_t kept_max_;
  Key key_;
  std::map<std::string, Entry> entries_;
  std::uint64_t uses_ = 0;
  /// Of the call that is being enqueued: those that have a part in it, at least one.
  std::vector<int> ranks_;
};

}  // namespace rankcheck::gpu::cuda
