#pragma once

#include <exception>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"
#include "harness/worker/protocol.hpp"

/// Readers of untrusted input, as functions of its bytes. libFuzzer runs them, and tests run them
/// on mutations of good input.
namespace rankcheck::fuzz {

/// A reader of one kind of input.
struct Target {
  std::string_view name;
  /// Returns the fault in how the input was handled. Empty if the input was read, or was refused by
  /// an exception that the program prints as its one line. Other exceptions are defects.
  std::string (*fault_of)(std::string_view input);
  /// Returns good input to start from.
  std::vector<std::string> (*seeds)();

  friend void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }
};

/// Returns all targets of this build.
[[nodiscard]] std::vector<Target> targets();
/// The metadata of scans. Only builds with reconstructions have this target.
[[nodiscard]] Target cxi_target();

/// Returns the journal of a run with a finding of each kind, without and with checksums.
[[nodiscard]] std::vector<std::string> seeds_of_journals();

/// Calls a reader. It returns a fault or throws to refuse its input.
template <class Read>
std::string fault_of_reading(const Read& read) {
  const auto fault_of = [](const std::exception& refusal) -> std::string {
    return *refusal.what() == '\0' ? "refused without a word" : "";
  };
  try {
    return read();
  } catch (const harness::BadInput& refusal) {
    return fault_of(refusal);
  } catch (const harness::FileError& refusal) {
    return fault_of(refusal);
  } catch (const harness::worker::ProtocolError& refusal) {
    return fault_of(refusal);
  } catch (const std::invalid_argument& refusal) {
    return fault_of(refusal);
  }
}

}  // namespace rankcheck::fuzz
