#pragma once

#include <filesystem>
#include <set>

#include <sys/types.h>

namespace rankcheck::harness::worker {

/// The files of shared memory that workers make. Libraries remove them in their own end, so a
/// killed or crashed MPICH leaves 8 MiB for each process in /dev/shm. Files that were there before
/// this object, and files that no noted process maps, are left alone.
class SharedMemory {
 public:
  explicit SharedMemory(std::filesystem::path folder = "/dev/shm");

  /// Notes the files that a process maps now. Does nothing if there is no such process.
  void note(pid_t process);
  /// Removes the noted files that are still there.
  void remove();

 private:
  std::filesystem::path folder_;
  std::set<std::filesystem::path> before_;
  std::set<std::filesystem::path> noted_;
};

}  // namespace rankcheck::harness::worker
