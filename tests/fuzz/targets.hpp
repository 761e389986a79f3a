#pragma once

#include <exception>
#include <filesystem>
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

[[nodiscard]] Target case_target();
[[nodiscard]] Target suite_target();
[[nodiscard]] Target journal_target();
[[nodiscard]] Target topology_target();
[[nodiscard]] Target frame_target();
[[nodiscard]] Target npy_target();
/// Only builds with reconstructions have this target.
[[nodiscard]] Target cxi_target();

[[nodiscard]] inline std::vector<Target> targets() {
  return {
    case_target(), suite_target(), journal_target(), topology_target(), frame_target(),
        npy_target(),
#if RANKCHECK_RECONSTRUCTS
        cxi_target(),
#endif
  };
}

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

/// A file in memory, for readers that need a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  [[nodiscard]] std::filesystem::path path() const;
  /// Returns the file's own descriptor, positioned at its begin. The file keeps ownership.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Returns the contents of the files in a source folder whose names end with `extension`.
[[nodiscard]] std::vector<std::string> contents_of(const std::string& folder,
                                                   std::string_view extension);

}  // namespace rankcheck::fuzz
