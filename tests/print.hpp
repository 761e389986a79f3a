#pragma once

#include <cctype>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

/// Prints test parameters in the names of tests and in failures.
namespace rankcheck::spec {

/// GoogleTest looks for these functions in the types' namespace.
inline void PrintTo(Type type, std::ostream* out) {
  *out << name(type);
}
inline void PrintTo(ReduceOp op, std::ostream* out) {
  *out << name(op);
}

}  // namespace rankcheck::spec

namespace rankcheck::tests {

/// Names a parameter by its printed text. Each run of other characters than letters and digits
/// becomes an underscore.
inline constexpr auto printed_name = [](const auto& instance) {
  std::string name;
  for (const char c : testing::PrintToString(instance.param)) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (fits || (!name.empty() && name.back() != '_')) name += fits ? c : '_';
  }
  name.erase(name.find_last_not_of('_') + 1);
  return name;
};

}  // namespace rankcheck::tests
