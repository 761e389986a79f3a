#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/contract.hpp"

#include "gpu/device/nccl/library.hpp"
#include "gpu/device/nccl/types.hpp"

namespace rankcheck::gpu::nccl {

/// One rank's part in one call. Buffers are null where the rank has none; in place they overlap as
/// the operation's contract says.
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
  /// An element of memory for calls that have none of their own.
  std::byte* scratch = nullptr;
};

/// Algorithm and protocol that NCCL is told to use through its environment.
struct Forcing {
  /// As the log of NCCL 2.24 and newer names them: AllReduce, RING, SIMPLE.
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
  /// The functions of NCCL that it calls, in a group of calls of all ranks of the process.
  std::vector<std::string_view> functions;
  void (*perform)(const Part& part) = nullptr;
  std::optional<Forcing> forcing = {};
  /// All ranks in one process, a device for each.
  bool one_process = false;

  /// What the worker must be started with.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
};

/// Set to 1 for a worker that is to be one process with all ranks.
inline constexpr const char* one_process_variable = "RANKCHECK_NCCL_ONE_PROCESS";

/// Every algorithm, those of one operation together and its plain one first.
[[nodiscard]] const std::vector<Algorithm>& algorithms();

/// The one of that name, or the operation's first where the name is empty; null where there is
/// none.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view operation, std::string_view name);

}  // namespace rankcheck::gpu::nccl
