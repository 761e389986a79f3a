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
  /// What makes it refuse a (legal) call beside chunks, in words; empty where it applies.
  std::string_view (*refuses)(const spec::Call& call, const Options& options) = nullptr;
  /// Writes the plan of a call that it does not refuse.
  void (*plan)(Builder& builder) = nullptr;
  /// Its messages travel in pieces of Options::chunk elements. Others have none to choose.
  bool in_chunks = false;
};

/// Why an algorithm does not take a (legal) call with such options, in words; empty where it does.
inline std::string_view why_refused(const Algorithm& algorithm,
                                    const spec::Call& call,
                                    const Options& options) {
  if (options.chunk > 0 && !algorithm.in_chunks) return "chunk: the algorithm has no chunks";
  return algorithm.refuses(call, options);
}

/// For algorithms that take every call.
inline std::string_view refuses_nothing(const spec::Call& /*call*/, const Options& /*options*/) {
  return {};
}

/// For operations without a call in place.
inline std::string_view refuses_in_place(const spec::Call& /*call*/, const Options& options) {
  return options.in_place ? "in place is not supported" : std::string_view{};
}

}  // namespace rankcheck::gpu::plan
