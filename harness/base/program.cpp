#include "harness/base/program.hpp"

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include <sys/auxv.h>
#include <unistd.h>

#include "harness/base/files.hpp"

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

std::filesystem::path find_program(const std::string& name) {
  const auto is_executable = [](const std::filesystem::path& path) {
    std::error_code failure;
    return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path, failure);
  };
  if (name.find('/') != std::string::npos) {
    return is_executable(name) ? std::filesystem::path(name) : std::filesystem::path();
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path file = std::filesystem::path(folder) / name;
    if (is_executable(file)) return file;
  }
  return {};
}

}  // namespace rankcheck::harness
