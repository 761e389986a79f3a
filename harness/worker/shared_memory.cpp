#include "harness/worker/shared_memory.hpp"

#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rankcheck::harness::worker {

SharedMemory::SharedMemory(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, unreadable)) {
    before_.insert(entry.path());
  }
}

void SharedMemory::note(pid_t process) {
  // A line ends with the path of the mapped file.
  const std::string beginning = " " + folder_.string() + "/";
  std::ifstream lines(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(beginning);
    if (at == std::string::npos) continue;
    const std::filesystem::path file = line.substr(at + 1);
    if (!before_.contains(file)) noted_.insert(file);
  }
}

void SharedMemory::remove() {
  std::error_code gone;
  for (const std::filesystem::path& file : noted_) std::filesystem::remove(file, gone);
  noted_.clear();
}

}  // namespace rankcheck::harness::worker
