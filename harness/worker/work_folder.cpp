#include "harness/worker/work_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace rankcheck::harness::worker {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "rankcheck-workers-";

std::string default_base() {
  std::error_code error;
  std::string text = fs::temp_directory_path(error).string();
  // A socket's path has at most 107 characters, and workers make files below this folder.
  constexpr std::size_t length_max = 60;
  return error || text.size() > length_max ? "/tmp" : text;
}

/// Locks a folder that is there; invalid where somebody else holds it or it is gone.
Descriptor try_lock(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0 || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return {};
  struct stat locked {};
  struct stat named {};
  const bool is_same = ::fstat(folder.get(), &locked) == 0 && ::stat(path.c_str(), &named) == 0 &&
                       locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
  return is_same ? std::move(folder) : Descriptor();
}

void remove_stale(const std::string& base) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const Descriptor lock = try_lock(entry.path().string());
    if (lock.get() >= 0) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

WorkFolder::WorkFolder() : WorkFolder(default_base()) {}

WorkFolder::WorkFolder(const std::string& base) {
  remove_stale(base);
  // Another process may take a new folder for a stale one before it is locked.
  for (int tries = 0; tries < 100 && lock_.get() < 0; ++tries) {
    path_ = fmt::format("{}/{}XXXXXX", base, prefix);
    if (::mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error(fmt::format(
          "cannot make a folder for the workers in {}: {}", base, std::strerror(errno)));
    }
    lock_ = try_lock(path_);
  }
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace rankcheck::harness::worker
