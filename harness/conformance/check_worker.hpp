#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/operation.hpp"
#include "harness/worker/session.hpp"

/// Checks whether a worker keeps to the worker protocol. The values of its results are not judged.
namespace rankcheck::harness::conformance {

enum class Outcome : std::uint8_t { ok, wrong, not_checked };

/// What is checked, in the order in which it is reported.
enum class Topic : std::uint8_t {
  start,
  hello,
  refusal,
  messages,
  layout,
  poison,
  inputs,
  stages,
  groups,
  shutdown,
};
inline constexpr std::array<std::string_view, 10> topic_names{"start",
                                                              "hello",
                                                              "refusal",
                                                              "messages",
                                                              "layout",
                                                              "poison",
                                                              "inputs",
                                                              "stages",
                                                              "groups",
                                                              "shutdown"};

/// The outcome of one topic.
struct Step {
  Topic topic = Topic::start;
  Outcome outcome = Outcome::not_checked;
  /// What was seen; the first problem, with what was expected and what was found; or why nothing
  /// was checked.
  std::string text = {};
  /// For a problem: the place in the pages that says what is right, and the case, if there is one.
  std::string page = {};
  std::string failing_case = {};
  /// Further algorithms with a problem of this topic, as "<operation> <algorithm>".
  std::vector<std::string> also = {};
  /// What is legal, but probably not meant.
  std::vector<std::string> hints = {};
};

struct CheckOptions {
  /// The backend's name in cases, so that a case can be replayed.
  std::string backend;
  /// The only operation to check. All of them if it is empty.
  std::string operation = {};
  int ranks_max = 4;
  /// The number of cases for each algorithm.
  int cases = 40;
};

/// Starts the worker, goes through all topics and ends the worker. Returns a step for each topic.
/// Throws BadInput if the worker lacks the operation, and Interrupted if a stop is requested.
[[nodiscard]] std::vector<Step> check_worker(const Catalogue& catalogue,
                                             const worker::WorkerOptions& worker,
                                             const CheckOptions& options);

}  // namespace rankcheck::harness::conformance
