#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/backend/backend.hpp"
#include "harness/base/stop.hpp"
#include "harness/check/operation.hpp"
#include "harness/run/available_backends.hpp"
#include "harness/run/run_options.hpp"
#include "harness/suite/suite_file.hpp"

/// What `rankcheck list` shows.
namespace rankcheck::cases {

/// An algorithm of a backend, and what it declared that it takes.
struct ListedAlgorithm {
  harness::AlgorithmInfo info;
  /// Null if the algorithm declared nothing.
  nlohmann::json takes = {};
};

/// A backend, and its algorithms by operation.
struct ListedBackend {
  /// The name of a built-in backend, or the name that reports give to a program of the user.
  std::string name;
  /// What `--backend` takes. Empty for a built-in backend.
  std::string command = {};
  std::string summary;
  /// Why the backend cannot run here. Empty if it can.
  std::string unavailable = {};
  /// What a program of the user said about its libraries.
  nlohmann::json versions = {};
  std::map<std::string, std::vector<ListedAlgorithm>, std::less<>> algorithms = {};
};

struct Listing {
  std::vector<harness::Operation> operations;
  std::vector<ListedBackend> backends;
  std::vector<harness::Suite> suites;
  /// Whether the options leave anything out.
  bool is_filtered = false;
};

/// Collects what fits the filters of `options`. Starts the named programs of the user with `ranks`
/// ranks. Throws BadInput if a filter matches nothing, if nothing fits all of them, or if a program
/// cannot be asked. Throws harness::Interrupted if `stop` is made before.
[[nodiscard]] Listing collect(const harness::run::RunOptions& options,
                              int ranks,
                              const harness::StopRequest& stop);

/// The properties that the operations claim and the filters leave, by name, with their summaries.
[[nodiscard]] std::map<std::string_view, std::string_view> properties_of(const Listing& listing);

[[nodiscard]] nlohmann::ordered_json to_json(const Listing& listing);

/// What an algorithm takes, for people: "type f32 f64; op sum min; root any; no empty parts".
[[nodiscard]] std::string text_of_takes(const nlohmann::json& takes);

}  // namespace rankcheck::cases
