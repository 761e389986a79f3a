#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/case/field.hpp"

namespace rankcheck::harness {

class Family;

/// Finds a field of cases by its name in JSON: a field of all cases, or one of the family's, which
/// may be null. Returns null if there is no such field. The result lives for ever.
[[nodiscard]] const Field<Case>* find_field(std::string_view name, const Family* family);

/// The names of these fields.
[[nodiscard]] std::vector<std::string> field_names(const Family* family);

}  // namespace rankcheck::harness
