#pragma once

#include <string>
#include <vector>

#include "harness/case/case.hpp"

namespace rankcheck::harness {

/// A field that differs between two cases, with both values as short texts.
struct FieldChange {
  std::string field;
  std::string before;
  std::string after;

  friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

/// The fields that differ, in the order of field_names(). A field that a case's JSON leaves out has
/// its default here.
[[nodiscard]] std::vector<FieldChange> changes_between(const Case& before, const Case& after);

/// "count 65535 -> 1, in_place true -> false". Has at most step_bytes_max bytes.
[[nodiscard]] std::string step_text(const Case& before, const Case& after);

}  // namespace rankcheck::harness
