#include "harness/program.hpp"

#include <cerrno>

#include <sys/auxv.h>

#include "harness/files.hpp"

namespace rankcheck::harness {

std::filesystem::path own_program() {
  std::error_code failure;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (!failure) return path;
  // The path that execve was given. It may be relative or a link. The kernel passes its address as
  // a number.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto* const given = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  path = std::filesystem::canonical(given == nullptr ? "" : given, failure);
  if (!failure) return path;
  errno = failure.value();
  throw_file_error("cannot find this program", given == nullptr ? "/proc/self/exe" : given);
}

}  // namespace rankcheck::harness
