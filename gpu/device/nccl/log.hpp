#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device/nccl/algorithms.hpp"

namespace rankcheck::gpu::nccl {

/// What NCCL's log says of one collective: which function ran with which algorithm and protocol.
/// The rank 0 of a communicator writes such a line when it launches the kernel (NCCL_DEBUG=INFO,
/// subsystem TUNING); nothing else that NCCL offers without a plugin of a certain version tells.
struct Launch {
  std::string function;
  std::string algorithm;
  std::string protocol;

  friend bool operator==(const Launch&, const Launch&) = default;
};

/// The launches that lines of NCCL's log tell of; other lines are left out.
[[nodiscard]] std::vector<Launch> launches_in(std::string_view log);

/// Throws std::runtime_error where a launch of the forced function took another way, or none is
/// there although data moved.
void expect_forced(const Forcing& forcing, const std::vector<Launch>& launches, bool moves_data);

/// The file that NCCL of this process writes its log to.
class Log {
 public:
  explicit Log(const std::string& path) : path_(path) {}

  /// The launches since the last call.
  [[nodiscard]] std::vector<Launch> news();

 private:
  std::string path_;
  std::streamoff read_ = 0;
};

}  // namespace rankcheck::gpu::nccl
