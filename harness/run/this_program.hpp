#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "harness/check/operation.hpp"
#include "harness/run/available_backends.hpp"

namespace rankcheck::harness::run {

/// What a run must know of the program that it is a part of.
struct ThisProgram {
  /// How the user called this program in a shell, so that printed commands work when pasted.
  std::string command;
  std::string version;
  /// The commit that this program was built from.
  std::string commit;
  Catalogue catalogue;
  AvailableBackends backends;
  /// Returns machine and compiler for the environment object of reports.
  nlohmann::ordered_json (*describe_machine)() = nullptr;
};

}  // namespace rankcheck::harness::run
