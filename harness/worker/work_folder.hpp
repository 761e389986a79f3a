#pragma once

#include <string>

#include "harness/worker/process.hpp"

namespace rankcheck::harness::worker {

/// A private folder for the files of workers. It is removed with its content when this object is
/// destroyed. It is locked while its owner lives. Making a WorkFolder removes folders of this user
/// whose owners were killed. The lock ends with the process, so a later process with the same id
/// does no harm.
class WorkFolder {
 public:
  /// Makes the folder in the system's folder for temporary files. Throws std::runtime_error.
  WorkFolder();
  /// Makes the folder in `base`. Throws std::runtime_error.
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
