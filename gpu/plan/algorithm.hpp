#pragma once

#include <string_view>

#include "gpu/plan/builder.hpp"

namespace rankcheck::gpu::plan {

/// One way to perform an operation: a pure function from a call to a plan.
struct Algorithm {
  /// As on the command line; the name of its file.
  std::string_view name;
  /// One sentence: steps, traffic, where it is good.
  std::string_view summary;
  /// Why it does not take this (legal) call, in words; empty where it applies.
  std::string_view (*refuses)(const spec::Call& call, const Options& options) = nullptr;
  /// Writes the plan of a call that it does not refuse.
  void (*plan)(Builder& builder) = nullptr;
};

/// For algorithms that take every call.
inline std::string_view refuses_nothing(const spec::Call& /*call*/, const Options& /*options*/) {
  return {};
}

/// For operations without a call in place.
inline std::string_view refuses_in_place(const spec::Call& /*call*/, const Options& options) {
  return options.in_place ? "in place is not supported" : std::string_view{};
}

}  // namespace rankcheck::gpu::plan
