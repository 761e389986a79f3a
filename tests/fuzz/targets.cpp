#include "tests/fuzz/targets.hpp"

#include <algorithm>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

namespace rankcheck::fuzz {

MemoryFile::MemoryFile(std::string_view content) : descriptor_(::memfd_create("input", 0)) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = ::write(descriptor_, content.data() + done, content.size() - done);
    if (written <= 0) std::abort();
    done += static_cast<std::size_t>(written);
  }
  ::lseek(descriptor_, 0, SEEK_SET);
}

MemoryFile::~MemoryFile() {
  ::close(descriptor_);
}

std::filesystem::path MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

std::vector<std::string> contents_of(const std::string& folder, std::string_view extension) {
  const std::filesystem::path root = std::filesystem::path(RANKCHECK_SOURCE_DIR) / folder;
  std::vector<std::filesystem::path> files;
  for (const auto& each : std::filesystem::recursive_directory_iterator(root)) {
    if (each.path().extension() == extension) files.push_back(each.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> contents;
  for (const std::filesystem::path& each : files) contents.push_back(harness::read_file(each));
  return contents;
}

}  // namespace rankcheck::fuzz
