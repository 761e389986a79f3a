#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case/case.hpp"

/// The calls of a production run, as its library or framework has written them down.
namespace rankcheck::cases::traces {

/// A call of one rank. `call` has the operation, the type, the count, the reduction and the root.
struct TracedCall {
  std::string communicator;
  harness::Case call;
  /// The file and the line or the number of the entry.
  std::string place;
  /// The number that the communicator gives to the call. -1 if it is not known.
  std::int64_t number = -1;
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
  std::filesystem::path path;
  std::string text;
};

/// Reads the files of one run: logs of NCCL or RCCL (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL),
/// JSON of PyTorch's flight recorder with a file for each rank, or one file with an object of
/// `ranks` and `calls`, which are calls of a case. Throws BadInput.
[[nodiscard]] Trace read_trace(std::span<const TraceFile> files);

[[nodiscard]] Trace read_nccl_logs(std::span<const TraceFile> files);
[[nodiscard]] Trace read_flight_records(std::span<const TraceFile> files,
                                        std::span<const nlohmann::json> records);

/// The calls of a run in an order in which all ranks can make them.
struct MergedCalls {
  std::vector<harness::Case> calls;
  /// Where ranks do not make the same call, one line each: both calls and their places. After ranks
  /// that wait for one another there are no calls.
  std::vector<std::string> problems;
};

/// Throws BadInput if the ranks of a communicator are none of the world, or stand there twice.
[[nodiscard]] MergedCalls merge(const Trace& trace);

}  // namespace rankcheck::cases::traces
