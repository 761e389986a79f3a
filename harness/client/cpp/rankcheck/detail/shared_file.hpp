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
  [[nodiscard]] bool contains(std::size_t offset, std::size_t size) const {
    return offset <= size_ && size <= size_ - offset;
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
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
    if (mapping_ == nullptr || path != path_ || !mapping_->contains(offset, size)) {
      mapping_ = std::make_shared<Mapping>(path);
      path_ = path;
    }
    if (!mapping_->contains(offset, size)) {
      throw ProtocolError("expected an image inside of " + path);
    }
    return {mapping_, mapping_->data() + offset};
  }

 private:
  std::string path_;
  std::shared_ptr<Mapping> mapping_;
};

}  // namespace rankcheck::detail
