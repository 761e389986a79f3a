#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace rankcheck::gpu::nccl {

/// A folder where the processes of a world meet before they can communicate. A value is a file.
/// Renaming makes it visible as a whole.
class Meeting {
 public:
  /// The folder must exist, and others must not be able to write to it. Waiting ends after
  /// `patience`.
  Meeting(std::filesystem::path folder, std::chrono::milliseconds patience);

  /// Publishes the value under the key, which must be the name of a file. Throws
  /// std::runtime_error.
  void publish(const std::string& key, const std::string& value) const;
  /// Waits until a process has published the key. Returns its value. Throws std::runtime_error if
  /// nobody does in time.
  [[nodiscard]] std::string await(const std::string& key) const;
  /// Returns when all ranks of the world have called it. Throws std::runtime_error with the first
  /// rank that does not come in time.
  void gather(int rank, int ranks) const;

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  [[nodiscard]] Deadline deadline() const { return std::chrono::steady_clock::now() + patience_; }
  /// Whether the file exists before the deadline.
  [[nodiscard]] bool appears(const std::string& key, Deadline deadline) const;

  std::filesystem::path folder_;
  std::chrono::milliseconds patience_;
};

}  // namespace rankcheck::gpu::nccl
