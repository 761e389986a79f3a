#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reference/spec/contract.hpp"

#include "harness/case/case.hpp"

/// The calls of a production run, as its library or framework has written them down.
namespace rankcheck::cases::traces {

/// A call of one rank. `call` has the operation, the type, the count, the reduction and the root.
struct TracedCall {
  std::string communicator;
  harness::Case call;
  /// The file and the line or the number of the entry.
  std::string place;
  /// The number that the communicator gives to the call. 0 if it is not known.
  std::int64_t number = 0;
};

/// The most ranks of a run that is read.
inline constexpr int ranks_max = 4096;

struct Trace {
  /// The number of ranks of the whole run.
  int world = 0;
  /// The world ranks of each communicator, in its order.
  std::map<std::string, std::vector<int>> communicators;
  /// The calls of each rank whose calls are known, in their order.
  std::map<int, std::vector<TracedCall>> calls;
  /// What is no call of rankcheck, and how often it was found.
  std::map<std::string, std::int64_t> left_out;
};

/// A file that was read.
struct TraceFile {
  std::string path;
  std::string text;
  /// Null if the text is no JSON object.
  nlohmann::json json;
};

/// Reads the files of one run: logs of NCCL or RCCL (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL),
/// JSON of PyTorch's flight recorder with a file for each rank, or one file with an object of
/// `ranks` and `calls`, which are calls of a case. Throws BadInput or FileError.
[[nodiscard]] Trace read_trace(std::span<const std::string> paths);

[[nodiscard]] Trace read_nccl_logs(std::span<const TraceFile> files);

/// The collective that NCCL or PyTorch calls so. Null if there is none.
[[nodiscard]] const spec::Contract* collective_named(std::string_view name);

}  // namespace rankcheck::cases::traces
