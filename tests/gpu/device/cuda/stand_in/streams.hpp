#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "tests/gpu/device/cuda/stand_in/cuda_runtime_api.h"
#include "tests/gpu/device/cuda/stand_in/work.hpp"

namespace rankcheck::stand_in {

/// Captured work, which is kept instead of done. It waits for other work of the same graph, by
/// number.
struct Node {
  Task task;
  std::vector<std::size_t> waits;
};

/// A capture: the work kept so far, and the streams that take part.
struct Capture {
  std::vector<Node> nodes;
  std::set<cudaStream_t> streams;
  cudaStream_t origin = nullptr;
  bool is_broken = false;
};

/// Remembers `code` as the runtime's last answer and returns it.
cudaError_t answer(cudaError_t code);
/// Makes every later call answer `code`, as CUDA does after most errors of a kernel.
void break_devices(cudaError_t code);
/// Returns the device that calls refer to.
[[nodiscard]] int current_device();

/// Returns why a kernel of the current device cannot run in the stream. Copies may use any stream.
[[nodiscard]] cudaError_t why_not(cudaStream_t stream);
/// Gives work to a stream that accepts it. The work may access the memory of the devices `opens` (a
/// bit mask). With the fault `overtakes`, only copies wait for the copies before them.
void enqueue(cudaStream_t stream,
             std::uint64_t opens,
             std::function<void()> work,
             bool is_copy = false);

/// Whether a capture is under way. The caller does something that captures do not allow, so all
/// captures become invalid.
[[nodiscard]] bool breaks_captures();

}  // namespace rankcheck::stand_in

struct CUstream_st {
  int device = 0;
  /// The last work given to the stream.
  rankcheck::stand_in::TaskPtr tail = nullptr;
  /// The last work that is no copy.
  rankcheck::stand_in::TaskPtr tail_without_copies = nullptr;
  /// With the fault `overtaken_launch`: launches of graphs, which only the host waits for.
  std::vector<std::function<void()>> late_launches = {};
  std::shared_ptr<rankcheck::stand_in::Capture> capture = nullptr;
  /// Numbers of the nodes that the next captured work waits for.
  std::set<std::size_t> front = {};
};

struct CUevent_st {
  int device = 0;
  bool has_time = true;
  rankcheck::stand_in::TaskPtr recorded = nullptr;
  /// Set if the event was last recorded in a stream under capture.
  std::shared_ptr<rankcheck::stand_in::Capture> capture = nullptr;
  std::set<std::size_t> nodes = {};
};
