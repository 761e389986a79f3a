#include "harness/worker/work_folder.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankcheck::harness::worker {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "rankcheck-workers-";
/// A file that marks a folder of WorkFolder; a user's folder may have such a name too.
constexpr std::string_view mark = ".rankcheck";

std::string default_base() {
  std::error_code error;
  std::string text = fs::temp_directory_path(error).string();
  // A socket's path has at most 107 characters, and workers create files below this folder.
  constexpr std::size_t length_max = 60;
  return error || text.size() > length_max ? "/tmp" : text;
}

/// Locks an existing folder of this user. Invalid if another process holds the lock or the folder
/// is gone.
Descriptor try_lock(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0 || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return {};
  struct stat locked {};
  struct stat named {};
  const bool is_same = ::fstat(folder.get(), &locked) == 0 && ::stat(path.c_str(), &named) == 0 &&
                       locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
  return is_same && locked.st_uid == ::geteuid() ? std::move(folder) : Descriptor();
}

/// Whether a WorkFolder made this folder, which must be locked. If its owner was killed early, the
/// folder may be empty, without a mark.
bool is_ours(const fs::path& folder) {
  std::error_code unreadable;
  return fs::exists(folder / mark, unreadable) || fs::is_empty(folder, unreadable);
}

/// Removes a folder with its content. Retries, because processes that are about to end may still
/// add files.
void remove_all(const fs::path& folder) {
  constexpr int tries = 100;
  constexpr auto pause = std::chrono::milliseconds(10);
  std::error_code failed;
  for (int i = 0; i < tries; ++i) {
    fs::remove_all(folder, failed);
    if (!failed) return;
    std::this_thread::sleep_for(pause);
  }
}

void remove_stale(const std::string& base) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const Descriptor lock = try_lock(entry.path().string());
    if (lock.get() >= 0 && is_ours(entry.path())) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

WorkFolder::WorkFolder() : WorkFolder(default_base()) {}

WorkFolder::WorkFolder(const std::string& base) {
  remove_stale(base);
  // Another process may take the new folder for a stale one before it is locked.
  for (int tries = 0; tries < 100 && lock_.get() < 0; ++tries) {
    path_ = fmt::format("{}/{}XXXXXX", base, prefix);
    if (::mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error(fmt::format(
          "cannot make a folder for the workers in {}: {}", base, std::strerror(errno)));
    }
    lock_ = try_lock(path_);
    if (lock_.get() < 0) ::rmdir(path_.c_str());
  }
  if (lock_.get() < 0) {
    throw std::runtime_error(
        fmt::format("cannot lock a folder for the workers in {}: {}", base, std::strerror(errno)));
  }
  std::ofstream(fs::path(path_) / mark) << ::getpid() << '\n';
}

WorkFolder::~WorkFolder() {
  remove_all(path_);
}

}  // namespace rankcheck::harness::worker
