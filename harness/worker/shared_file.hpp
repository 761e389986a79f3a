#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "harness/worker/process.hpp"

namespace rankcheck::harness::worker {

/// Memory with a path, which the workers of this machine map. The system frees it when its owner
/// has ended and nobody maps it any more, however the processes end.
class SharedFile {
 public:
  /// Images begin at multiples of this.
  static constexpr std::size_t alignment = 4096;

  /// Returns an empty file. Null if the system has none.
  [[nodiscard]] static std::unique_ptr<SharedFile> make();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile();

  /// The path, as long as this object lives. No two files that live at the same time have the same.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Makes the file at least so long. Returns false if the system refuses. The bytes may move in
  /// the memory of this process.
  [[nodiscard]] bool reserve(std::size_t size);
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit SharedFile(Descriptor file);

  Descriptor file_;
  std::string path_;
  std::span<std::byte> bytes_;
};

}  // namespace rankcheck::harness::worker
