#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <rankcheck/detail/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// The file in which the harness puts large images.
namespace rankcheck::detail {

/// A whole file in memory.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat about {};
    if (file >= 0 && ::fstat(file, &about) == 0 && about.st_size > 0) {
      device_ = about.st_dev;
      node_ = about.st_ino;
      size_ = static_cast<std::size_t>(about.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    const int error = errno;
    if (file >= 0) ::close(file);
    if (data_ == MAP_FAILED) throw std::system_error(error, std::generic_category(), path);
  }
  ~Mapping() { ::munmap(data_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] unsigned char* data() const { return static_cast<unsigned char*>(data_); }
  /// Whether the path still names this file. The harness may replace its file by another one that
  /// has the same path.
  [[nodiscard]] bool is_at(const std::string& path) const {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && about.st_dev == device_ && about.st_ino == node_;
  }
  [[nodiscard]] bool contains(std::size_t offset, std::size_t size) const {
    return offset <= size_ && size <= size_ - offset;
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
  dev_t device_ = 0;
  ino_t node_ = 0;
};

class SharedFile {
 public:
  /// Whether this process can open the harness's files.
  [[nodiscard]] static bool can_open() {
    const char* const path = std::getenv("RANKCHECK_SHARED_FILE");
    return path != nullptr && ::access(path, R_OK | W_OK) == 0;
  }

  /// Returns the bytes of an image. They stay valid as long as somebody has them.
  std::shared_ptr<unsigned char> image(const std::string& path,
                                       std::size_t offset,
                                       std::size_t size) {
    const bool is_known = mapping_ != nullptr && mapping_->is_at(path);
    if (!is_known || !mapping_->contains(offset, size)) mapping_ = std::make_shared<Mapping>(path);
    if (!mapping_->contains(offset, size)) {
      throw ProtocolError("expected an image inside of " + path);
    }
    return {mapping_, mapping_->data() + offset};
  }

 private:
  std::shared_ptr<Mapping> mapping_;
};

}  // namespace rankcheck::detail
