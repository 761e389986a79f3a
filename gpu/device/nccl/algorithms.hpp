#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/collective.hpp"

#include "gpu/device/nccl/library.hpp"
#include "gpu/device/nccl/types.hpp"

namespace rankcheck::gpu::nccl {

/// One rank's part in one call. A buffer is null if the rank has none. In place, the buffers
/// overlap as the operation's contract says.
struct Part {
  const Library& nccl;
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  int rank = 0;
  const spec::Call& call;
  const spec::Extents& extents;
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  ncclRedOp_t op = ncclSum;
  /// One element of memory for calls without buffers of their own; otherwise null.
  std::byte* scratch = nullptr;
};

/// An algorithm and a protocol that NCCL is told to use through its environment.
struct Forcing {
  /// Names as in the log of NCCL 2.24 and newer, for example AllReduce, RING, SIMPLE.
  std::string function;
  std::string algorithm;
  std::string protocol;

  [[nodiscard]] std::map<std::string, std::string> environment() const;
};

/// One way in which this backend performs an operation.
struct Algorithm {
  std::string operation;
  std::string name;
  std::string summary;
  /// The NCCL functions that it calls. All ranks of the process make these calls in one group,
  /// unless each has a thread.
  std::vector<std::string_view> functions;
  void (*perform)(const Part& part) = nullptr;
  std::optional<Forcing> forcing = {};
  /// True if all ranks are in one process, with a device for each.
  bool one_process = false;
  /// True if each rank of the process makes its calls in a thread of its own.
  bool threads = false;
  /// True if the arrays of a list are copied into one pack. `perform` then sees a call for one
  /// array.
  bool packs = false;
  /// True if the buffers are copied into a symmetric window of the communicator, and the call is
  /// made there.
  bool windows = false;
  /// True if the buffers are copied into memory that is registered with the communicator by
  /// ncclCommRegister, and the call is made there.
  bool registered = false;
  /// True if the call is captured into a CUDA graph, which is launched several times.
  bool graph = false;
  /// True if the call is made in one group with other calls: one of another operation on the same
  /// communicator, and one of the same operation on another communicator.
  bool aggregated = false;

  /// The environment that the worker must be started with.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
  /// Whether the streams must have no work when the call begins, and the call must end before
  /// another one begins.
  [[nodiscard]] bool runs_alone() const {
    return threads || windows || registered || graph || aggregated;
  }
};

/// Environment variable. 1 makes the worker one process with all ranks.
inline constexpr const char* one_process_variable = "RANKCHECK_NCCL_ONE_PROCESS";
/// Environment variable. 1 lets NCCL register memory where ncclCommRegister asks for it.
inline constexpr const char* register_variable = "RANKCHECK_NCCL_REGISTER";

/// All algorithms. Those of one operation are together, with the plain one first.
[[nodiscard]] const std::vector<Algorithm>& algorithms();

/// The algorithm of that name, or the operation's first one if the name is empty; null if there is
/// none.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view operation, std::string_view name);

}  // namespace rankcheck::gpu::nccl
