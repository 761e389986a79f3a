#include "harness/base/files.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/checksum.hpp"

namespace rankcheck::harness {

namespace {

/// Writes everything, or returns false and sets errno.
bool write_all(int descriptor, std::string_view rest) {
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    rest.remove_prefix(spec::to_size(written));
  }
  return true;
}

/// A regular file that is open for reading.
class RegularFile {
 public:
  /// Throws FileError if the path cannot be opened or is no regular file.
  explicit RegularFile(std::filesystem::path path)
      : path_(std::move(path)),
        // O_NONBLOCK: opening a pipe would otherwise wait for a writer.
        descriptor_(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (descriptor_.get() < 0) throw_file_error("cannot read", path_);
    struct stat status {};
    const bool is_known = ::fstat(descriptor_.get(), &status) == 0;
    if (is_known && S_ISREG(status.st_mode)) {
      size_bytes_ = static_cast<std::uintmax_t>(status.st_size);
      return;
    }
    if (is_known && S_ISDIR(status.st_mode)) errno = EISDIR;
    if (!is_known || S_ISDIR(status.st_mode)) throw_file_error("cannot read", path_);
    throw FileError(fmt::format(
        "cannot read: {}: found a {}, expected a file", path_.string(), kind_of(status.st_mode)));
  }

  /// Returns the number of bytes that were read, 0 at the end. Throws FileError.
  [[nodiscard]] std::size_t read(char* buffer, std::size_t size_bytes) const {
    for (;;) {
      const ssize_t got = ::read(descriptor_.get(), buffer, size_bytes);
      if (got >= 0) return spec::to_size(got);
      if (errno != EINTR) throw_file_error("cannot read", path_);
    }
  }
  [[nodiscard]] std::uintmax_t size_bytes() const { return size_bytes_; }

 private:
  static std::string_view kind_of(mode_t mode) {
    return S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
  }

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uintmax_t size_bytes_ = 0;
};

constexpr std::string_view seal_begin = "\ncrc32 ";

/// The end of a file whose content has this checksum.
std::string seal_of(const Checksum& sum) {
  return fmt::format("{}{}\n", seal_begin, sum.text());
}

/// Ignores EINVAL and EROFS: a file that cannot be synchronised (a pipe, a device) has nothing to
/// lose.
bool synchronise(int descriptor) {
  return ::fdatasync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

}  // namespace

std::string reason_of(int error) {
  const std::string reason = std::generic_category().message(error);
  if (error != ENAMETOOLONG) return reason;
  return fmt::format("{} (at most {} bytes each, {} in all)", reason, NAME_MAX, PATH_MAX - 1);
}

void throw_file_error(std::string_view what, const std::filesystem::path& path) {
  throw FileError(fmt::format("{}: {}: {}", what, path.string(), reason_of(errno)));
}

std::string read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const RegularFile file(path);
  const auto require_size = [&](std::uintmax_t bytes) {
    if (bytes <= bytes_max) return;
    throw FileError(
        fmt::format("cannot read: {}: expected at most {} bytes", path.string(), bytes_max));
  };
  // Sizes are checked twice: system files report 0 bytes, and other files grow while they are read.
  require_size(file.size_bytes());
  std::string content;
  content.reserve(file.size_bytes());
  char buffer[1 << 14];
  while (const std::size_t got = file.read(buffer, sizeof buffer)) {
    content.append(buffer, got);
    require_size(content.size());
  }
  return content;
}

std::string sealed(std::string content) {
  Checksum sum;
  sum.add(content);
  return content += seal_of(sum);
}

void require_seal(const std::filesystem::path& path) {
  const RegularFile file(path);
  const std::size_t seal_bytes = seal_of({}).size();
  Checksum sum;
  // The last bytes so far; they may be the seal.
  std::string tail;
  std::string buffer(std::size_t{1} << 20, '\0');
  while (const std::size_t got = file.read(buffer.data(), buffer.size())) {
    tail.append(buffer, 0, got);
    const std::size_t before = tail.size() - std::min(tail.size(), seal_bytes);
    sum.add(std::string_view(tail).substr(0, before));
    tail.erase(0, before);
  }
  if (tail == seal_of(sum)) return;
  const bool has_one = tail.starts_with(seal_begin);
  throw FileError(
      fmt::format("cannot read: {}: found {} at the end of the file, expected {}",
                  path.string(),
                  has_one ? "another checksum" : "no checksum",
                  has_one ? "that of the file: it has changed since it was written" : "one"));
}

void require_regular_file(const std::filesystem::path& path) {
  const RegularFile file(path);
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

LineFile::LineFile(const std::filesystem::path& path)
    : path_(path),
      descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_.get() < 0) throw_file_error("cannot write", path);
  if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw FileError(fmt::format("cannot write: {}: another run is writing it", path.string()));
}

void LineFile::truncate(std::uintmax_t size_bytes) {
  if (::ftruncate(descriptor_.get(), static_cast<off_t>(size_bytes)) != 0) {
    throw_file_error("cannot shorten", path_);
  }
}

void LineFile::append(std::string_view line) {
  std::string whole(line);
  whole += '\n';
  if (!write_all(descriptor_.get(), whole) || !synchronise(descriptor_.get())) {
    throw_file_error("cannot write", path_);
  }
}

}  // namespace rankcheck::harness
