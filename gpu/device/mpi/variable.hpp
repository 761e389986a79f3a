#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>

namespace rankcheck::gpu::mpi {

/// A control variable of the MPI library that holds an integer or a truth value. The tool interface
/// must be open. Throws Error if an MPI call fails.
class Variable {
 public:
  /// Empty if the library has no variable of that name.
  static std::optional<Variable> find(const std::string& name);
  Variable(Variable&& other) noexcept
      : handle_(std::exchange(other.handle_, MPI_T_CVAR_HANDLE_NULL)),
        enum_(other.enum_),
        is_bool_(other.is_bool_),
        writable_(other.writable_),
        description_(std::move(other.description_)) {}
  Variable& operator=(Variable&&) = delete;
  ~Variable();

  [[nodiscard]] bool writable() const { return writable_; }
  /// The library's words for people. Some libraries name the values in it only.
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] int read() const;
  void write(int value) const;

  struct Item {
    int value = 0;
    std::string word;
  };
  /// The values that have a word. Empty if the library does not list them.
  [[nodiscard]] std::vector<Item> items() const;

 private:
  Variable() = default;

  MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_enum enum_ = MPI_T_ENUM_NULL;
  bool is_bool_ = false;
  bool writable_ = false;
  std::string description_;
};

/// A value that a control variable is to have.
struct Setting {
  std::string variable;
  int value = 0;
};

/// During its life, control variables of this process have these values.
class SettingScope {
 public:
  /// `word` is the library's word for the algorithm that they choose. Throws std::runtime_error if
  /// the library does not accept the values, and Error if an MPI call fails.
  SettingScope(const std::vector<Setting>& settings, std::string_view word);
  SettingScope(const SettingScope&) = delete;
  SettingScope& operator=(const SettingScope&) = delete;
  ~SettingScope();

 private:
  /// Sets back what was set, the last one first. Ends the program if that fails: later calls would
  /// use the algorithm, too, and nobody would know.
  void set_back() const noexcept;

  /// What the settings were before.
  std::vector<Setting> before_;
};

}  // namespace rankcheck::gpu::mpi
