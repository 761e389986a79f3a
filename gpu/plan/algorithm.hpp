#pragma once

#include <string_view>

#include "gpu/plan/builder.hpp"

namespace rankcheck::gpu::plan {

/// For algorithms that take every call.
inline std::string_view refuses_nothing(const spec::Call& /*call*/, const Options& /*options*/) {
  return {};
}

/// One way to perform an operation: a pure function from a call to a plan.
struct Algorithm {
  /// The algorithm's name on the command line, which is also the name of its file.
  std::string_view name;
  /// One sentence: its steps, its traffic and where it is good.
  std::string_view summary;
  /// Says why the algorithm does not take a (legal) call; empty if it does. Chunks are not judged
  /// here: see why_refused().
  std::string_view (*refuses)(const spec::Call& call, const Options& options) = refuses_nothing;
  /// Writes the plan of a call that the algorithm does not refuse.
  void (*plan)(Builder& builder) = nullptr;
  /// True if the messages travel in pieces of Options::chunk elements. Other algorithms refuse a
  /// chunk size.
  bool in_chunks = false;
  /// Whether the plan of a reduction combines the terms in the order of the ranks. Null: it does
  /// not. Reductions that do not commute need this order.
  bool (*keeps_order)(const spec::Call& call) = nullptr;
};

/// Says why an algorithm does not take a (legal) call with these options; empty if it does.
inline std::string_view why_refused(const Algorithm& algorithm,
                                    const spec::Call& call,
                                    const Options& options) {
  if (options.chunk > 0 && !algorithm.in_chunks) return "chunk: the algorithm has no chunks";
  if (!spec::commutes(call.op)) {
    if (algorithm.keeps_order == nullptr)
      return "op: the algorithm does not combine in the order of the ranks";
    if (!algorithm.keeps_order(call))
      return "op, root, ranks: the call does not combine in the order of the ranks";
  }
  return algorithm.refuses(call, options);
}

/// Finds the algorithm with which a cluster performs a collective call. Returns null if no
/// algorithm of the operation takes the call.
using AlgorithmLookup = const Algorithm* (*)(std::string_view operation,
                                             const spec::Call& call,
                                             const Options& options);

/// For algorithms that combine in the order of the ranks.
inline bool always_keeps_order(const spec::Call& /*call*/) {
  return true;
}

/// For trees whose positions count from the root.
inline bool keeps_order_from_root(const spec::Call& call) {
  return call.root == 0;
}

/// For operations that cannot be called in place.
inline std::string_view refuses_in_place(const spec::Call& /*call*/, const Options& options) {
  return options.in_place ? "in place is not supported" : std::string_view{};
}

}  // namespace rankcheck::gpu::plan
