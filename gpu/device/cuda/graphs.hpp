#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gpu/device/cuda/enqueue.hpp"

namespace rankcheck::gpu::cuda {

/// A text of everything that determines the work of a call, including the addresses of its buffers.
/// Calls with the same key are the same work.
[[nodiscard]] std::string key_of(const PlanCall& call);

/// Environment variable. 0 disables CUDA graphs: a failure that remains is not caused by graphs. 1
/// or unset enables them.
inline constexpr const char* graphs_variable = "RANKCHECK_CUDA_GRAPHS";
/// Whether the environment enables graphs. Throws DeviceError if the variable has any other value.
[[nodiscard]] bool wants_graphs();

/// Enqueues calls as enqueue() does, and keeps the work of repeated calls. A call is captured the
/// second time; from then on, its graph is replayed in one launch. A graph is work of one stream,
/// so captured calls synchronise more than their plan asks for. Consider the ranks that have a part
/// in the plan:
/// - Work given to their streams before the call is done before all work of the call.
/// - Work given to their streams after the call is done after all work of the call.
/// If such waiting is the purpose of a call, use enqueue() instead. Ranks without a part wait for
/// nobody.
class Graphs {
 public:
  using Key = std::function<std::string(const PlanCall& call)>;

  /// `streams` must outlive the object. Keeps the graphs of at most `kept_max` calls, the most
  /// recently used ones.
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

  /// join() makes the stream of ranks_.front() wait for the streams of all other ranks_. fork()
  /// makes the streams of the others wait for the stream of ranks_.front().
  void join(std::int32_t first_event);
  void fork(std::int32_t event);
  std::int32_t capture(const PlanCall& call);
  void forget_oldest();

  Streams& streams_;
  std::size_t kept_max_;
  Key key_;
  std::map<std::string, Entry> entries_;
  std::uint64_t uses_ = 0;
  /// The ranks that have a part in the call that is being enqueued, at least one.
  std::vector<int> ranks_;
};

}  // namespace rankcheck::gpu::cuda
