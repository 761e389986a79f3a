#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device/mpi/registry.hpp"

/// The algorithms that Open MPI's component coll/tuned can be forced to use, found at run time
/// through MPI_T. Another MPI library has no such variables, and nothing is found.
namespace rankcheck::gpu::mpi {

/// One value of a control variable coll_tuned_<collective>_algorithm.
struct Forcing {
  std::string operation;
  const Tuning* tuning = nullptr;
  /// Open MPI's word for the algorithm.
  std::string word;
  int value = 0;
  /// Some variables can only be set before MPI_Init.
  bool writable = true;

  /// A control variable of the collective: "coll_tuned_bcast_algorithm".
  [[nodiscard]] std::string variable() const {
    return "coll_tuned_" + std::string(tuning->collective) + "_algorithm";
  }
  /// The algorithm's name here: "tuned_ring".
  [[nodiscard]] std::string name() const;
  /// Operation and name: one text for each.
  [[nodiscard]] std::string label() const { return operation + "/" + name(); }
  /// What the process must be started with; empty where the variable is writable.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
  /// The function of Open MPI that performs it; see witness.hpp.
  [[nodiscard]] std::string function() const;
};

/// Keeps MPI's tool interface open.
class ToolInterface {
 public:
  ToolInterface();
  ToolInterface(const ToolInterface&) = delete;
  ToolInterface& operator=(const ToolInterface&) = delete;
  ~ToolInterface();
};

/// Those of one operation, which must outlive them; empty unless the process was started with
/// coll_tuned_use_dynamic_rules. The tool interface must be open.
[[nodiscard]] std::vector<Forcing> find_forcings(const NamedOperation& operation);

/// Why forcing makes no sense for this call: Open MPI (4.1) returns an error there, or hands the
/// call on to another algorithm. Empty where the algorithm does it itself, which witness.hpp
/// verifies.
[[nodiscard]] std::string_view why_unforceable(const Forcing& forcing, const ForcedUse& use);

/// While it lives, new communicators of this process use the forced algorithm. Throws Error where
/// the library does not take the value.
class ForcedScope {
 public:
  /// `segment_bytes` 0: a segment so small that small calls have several.
  ForcedScope(const Forcing& forcing, int segment_bytes);
  ForcedScope(const ForcedScope&) = delete;
  ForcedScope& operator=(const ForcedScope&) = delete;
  ~ForcedScope();

 private:
  const Forcing& forcing_;
};

/// Bytes of a segment where a call names none.
inline constexpr int default_segment_bytes = 16;

}  // namespace rankcheck::gpu::mpi
