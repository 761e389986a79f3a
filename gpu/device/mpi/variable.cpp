#include "gpu/device/mpi/variable.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <stdexcept>

#include "gpu/device/mpi/error.hpp"

namespace rankcheck::gpu::mpi {

std::optional<Variable> Variable::find(const std::string& name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
  Variable variable;
  int verbosity = 0;
  int binding = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::array<char, 4096> description{};
  int length = static_cast<int>(description.size());
  if (MPI_T_cvar_get_info(index,
                          nullptr,
                          nullptr,
                          &verbosity,
                          &type,
                          &variable.enum_,
                          description.data(),
                          &length,
                          &binding,
                          &scope) != MPI_SUCCESS ||
      (type != MPI_INT && type != MPI_C_BOOL)) {
    return std::nullopt;
  }
  variable.description_ = description.data();
  variable.is_bool_ = type == MPI_C_BOOL;
  variable.writable_ = scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY;
  int count = 0;
  check(MPI_T_cvar_handle_alloc(index, nullptr, &variable.handle_, &count),
        "MPI_T_cvar_handle_alloc");
  return variable;
}

Variable::~Variable() {
  if (handle_ != MPI_T_CVAR_HANDLE_NULL) MPI_T_cvar_handle_free(&handle_);
}

int Variable::read() const {
  int value = 0;
  bool flag = false;
  check(MPI_T_cvar_read(handle_, is_bool_ ? static_cast<void*>(&flag) : &value), "MPI_T_cvar_read");
  return is_bool_ ? static_cast<int>(flag) : value;
}

void Variable::write(int value) const {
  check(MPI_T_cvar_write(handle_, &value), "MPI_T_cvar_write");
}

std::vector<Variable::Item> Variable::items() const {
  std::vector<Item> items;
  int count = 0;
  int length = 0;
  if (enum_ == MPI_T_ENUM_NULL ||
      MPI_T_enum_get_info(enum_, &count, nullptr, &length) != MPI_SUCCESS) {
    return items;
  }
  for (int i = 0; i < count; ++i) {
    Item item;
    std::array<char, 256> word{};
    length = static_cast<int>(word.size());
    check(MPI_T_enum_get_item(enum_, i, &item.value, word.data(), &length), "MPI_T_enum_get_item");
    item.word = word.data();
    items.push_back(std::move(item));
  }
  return items;
}

SettingScope::SettingScope(const std::vector<Setting>& settings, std::string_view word) {
  try {
    for (const auto& [name, value] : settings) {
      const auto variable = Variable::find(name);
      if (!variable) throw std::runtime_error(name + ": no such control variable");
      before_.push_back({name, variable->read()});
      variable->write(value);
      if (variable->read() == value) continue;
      throw std::runtime_error(name + ": could not be set to " + std::string(word));
    }
  } catch (...) {
    set_back();
    throw;
  }
}

SettingScope::~SettingScope() {
  set_back();
}

void SettingScope::set_back() const noexcept {
  try {
    std::for_each(before_.rbegin(), before_.rend(), [](const Setting& setting) {
      const auto variable = Variable::find(setting.variable);
      if (!variable) throw std::runtime_error(setting.variable + ": no such control variable");
      variable->write(setting.value);
    });
  } catch (...) {
    std::terminate();
  }
}

}  // namespace rankcheck::gpu::mpi
