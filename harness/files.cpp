#include "harness/files.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace rankcheck::harness {

namespace {

/// Writes everything or returns false with errno set.
bool write_all(int descriptor, std::string_view rest) {
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// What cannot be synchronised (a pipe, a device) has nothing to lose.
bool synchronise(int descriptor) {
  return ::fdatasync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

}  // namespace

void throw_file_error(std::string_view what, const std::filesystem::path& path) {
  const std::string reason = std::generic_category().message(errno);
  throw FileError(fmt::format("{}: {}: {}", what, path.string(), reason));
}

std::string read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw_file_error("cannot read", path);
  std::string content;
  char buffer[1 << 14];
  std::size_t got = 0;
  while (content.size() <= bytes_max && (got = std::fread(buffer, 1, sizeof buffer, file)) > 0) {
    content.append(buffer, got);
  }
  const bool failed = std::ferror(file) != 0;
  const int reason = errno;
  std::fclose(file);
  errno = reason;
  if (failed) throw_file_error("cannot read", path);
  if (content.size() > bytes_max) {
    throw FileError(
        fmt::format("cannot read: {}: expected at most {} bytes", path.string(), bytes_max));
  }
  return content;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.tmp", ::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) throw_file_error("cannot write", path);
  bool written = write_all(descriptor, content) && synchronise(descriptor);
  int reason = errno;
  if (::close(descriptor) != 0 && written) {
    written = false;
    reason = errno;
  }
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  if (written) reason = errno;
  ::unlink(temporary.c_str());
  errno = reason;
  throw_file_error("cannot write", path);
}

void make_folder(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (!failure && std::filesystem::is_directory(path, failure)) return;
  errno = failure ? failure.value() : ENOTDIR;
  throw_file_error("cannot create the folder", path);
}

LineFile::LineFile(const std::filesystem::path& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw_file_error("cannot write", path);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(descriptor_);
  throw FileError(fmt::format("cannot write: {}: another run is writing it", path.string()));
}

LineFile::~LineFile() {
  ::close(descriptor_);
}

void LineFile::truncate(std::uintmax_t size_bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size_bytes)) != 0) {
    throw_file_error("cannot shorten", path_);
  }
}

void LineFile::append(std::string_view line) {
  std::string whole(line);
  whole += '\n';
  if (!write_all(descriptor_, whole) || !synchronise(descriptor_)) {
    throw_file_error("cannot write", path_);
  }
}

}  // namespace rankcheck::harness
