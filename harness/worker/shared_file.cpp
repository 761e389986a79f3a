#include "harness/worker/shared_file.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

namespace rankcheck::harness::worker {

std::unique_ptr<SharedFile> SharedFile::make() {
  Descriptor file(::memfd_create("rankcheck-images", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // A worker that shortened the file would end this process.
  if (file.get() < 0 || ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return nullptr;
  return std::unique_ptr<SharedFile>(new SharedFile(std::move(file)));
}

SharedFile::SharedFile(Descriptor file)
    : file_(std::move(file)), path_(fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get())) {}

SharedFile::~SharedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

bool SharedFile::reserve(std::size_t size) {
  if (size <= bytes_.size()) return true;
  // Mapping a file anew for each image would take long.
  const std::size_t wanted = (std::max(size, 2 * bytes_.size()) + alignment - 1) & ~(alignment - 1);
  if (::ftruncate(file_.get(), static_cast<off_t>(wanted)) != 0) return false;
  void* const memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) return false;
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  bytes_ = {static_cast<std::byte*>(memory), wanted};
  return true;
}

}  // namespace rankcheck::harness::worker
