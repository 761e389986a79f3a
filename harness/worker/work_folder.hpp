#pragma once

#include <string>

#include "harness/worker/process.hpp"

namespace rankcheck::harness::worker {

/// A private folder for the files of workers, removed with all that is in it when this object goes.
/// Each is locked while its owner lives; making one removes those of this user whose owners were
/// killed. The lock goes with the process, so that another process of its number does not matter.
class WorkFolder {
 public:
  /// In the folder for temporary files. Throws std::runtime_error.
  WorkFolder();
  /// In `base`.
  explicit WorkFolder(const std::string& base);
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor lock_;
};

}  // namespace rankcheck::harness::worker
