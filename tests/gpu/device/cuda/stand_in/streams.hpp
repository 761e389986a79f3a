#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "tests/gpu/device/cuda/stand_in/cuda_runtime_api.h"
#include "tests/gpu/device/cuda/stand_in/work.hpp"

namespace rankcheck::stand_in {

/// Work that is kept instead of done; it waits for other work of the same graph, by number.
struct Node {
  Task task;
  std::vector<std::size_t> waits;
};

/// What is being kept, of streams that are in it.
struct Capture {
  std::vector<Node> nodes;
  std::set<cudaStream_t> streams;
  cudaStream_t origin = nullptr;
  bool is_broken = false;
};

/// Remembers what the runtime answers last, and answers that.
cudaError_t answer(cudaError_t code);
/// What happens after most errors of a kernel: from now on nothing works, and every call says this.
void break_devices(cudaError_t code);
/// The one that calls speak to.
[[nodiscard]] int current_device();

/// Why no kernel of the current device can be given to the stream; copies go to any.
[[nodiscard]] cudaError_t why_not(cudaStream_t stream);
/// Gives a stream, which takes it, work that may touch the memory of `opens`.
void enqueue(cudaStream_t stream, std::uint64_t opens, std::function<void()> work);

/// Whether some stream keeps its work; what does not go with that breaks it.
[[nodiscard]] bool breaks_captures();

}  // namespace rankcheck::stand_in

struct CUstream_st {
  int device = 0;
  /// The last work given to it.
  rankcheck::stand_in::TaskPtr tail = nullptr;
  std::shared_ptr<rankcheck::stand_in::Capture> capture = nullptr;
  /// What the next work that is kept waits for.
  std::set<std::size_t> front = {};
};

struct CUevent_st {
  int device = 0;
  bool has_time = true;
  rankcheck::stand_in::TaskPtr recorded = nullptr;
  /// Where it was last recorded in a stream whose work was kept.
  std::shared_ptr<rankcheck::stand_in::Capture> capture = nullptr;
  std::set<std::size_t> nodes = {};
};
