#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/conformance/check_worker.hpp"
#include "harness/worker/worker_backend.hpp"

namespace rankcheck::harness::conformance {

/// One breach of the pages.
struct Problem {
  Topic topic = Topic::messages;
  std::string text;
  /// The place in the pages that says what is right.
  std::string page;
};

/// Judges how a run ended, and what it left around the outputs. Empty if all is well.
[[nodiscard]] std::vector<Problem> problems_of_run(const Catalogue& catalogue,
                                                   worker::WorkerBackend& backend,
                                                   std::span<const Case> stages,
                                                   const Observation& seen);

}  // namespace rankcheck::harness::conformance
