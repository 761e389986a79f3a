#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/device/nccl/algorithms.hpp"

namespace rankcheck::gpu::nccl {

/// One collective in NCCL's log: the function that ran, its algorithm and its protocol. Rank 0 of a
/// communicator writes such a line when it launches the kernel (NCCL_DEBUG=INFO, subsystem TUNING).
/// Apart from a plugin for a certain version, NCCL offers no other source for this.
struct Launch {
  std::string function;
  std::string algorithm;
  std::string protocol;

  friend bool operator==(const Launch&, const Launch&) = default;
};

/// The launches in lines of NCCL's log; other lines are ignored.
[[nodiscard]] std::vector<Launch> launches_in(std::string_view log);

/// Throws WrongPath if a launch of the forced function used another algorithm or protocol,
/// or if there is no launch although data moved.
void require_forced(const Forcing& forcing, const std::vector<Launch>& launches, bool moves_data);

/// The log file of NCCL in this process.
class Log {
 public:
  explicit Log(std::string path) : path_(std::move(path)) {}

  /// The launches since the last call.
  [[nodiscard]] std::vector<Launch> news();

 private:
  std::string path_;
  std::streamoff read_ = 0;
};

}  // namespace rankcheck::gpu::nccl
