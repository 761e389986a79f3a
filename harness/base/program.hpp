#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace rankcheck::harness {

/// The absolute path of the program that this process runs. Without /proc it also works, until the
/// process changes its working folder. Throws FileError.
[[nodiscard]] std::filesystem::path own_program();

/// Returns the file that a shell would run as this program: a path with a slash itself, otherwise
/// the first one in the folders of PATH. Empty if no such file can be executed.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

/// Sets an environment variable, which child processes get, as long as this object lives. No other
/// thread may run while the object is created or destroyed.
class EnvironmentVariable {
 public:
  /// Without a value, the variable is removed.
  EnvironmentVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;
  ~EnvironmentVariable() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace rankcheck::harness
