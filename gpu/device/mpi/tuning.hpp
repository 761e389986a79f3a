#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device/mpi/operation.hpp"
#include "gpu/device/mpi/variable.hpp"

/// The algorithms that Open MPI's component coll/tuned can be forced to use, found at run time
/// through MPI_T. Other MPI libraries have no such variables, so nothing is found there.
namespace rankcheck::gpu::mpi {

/// One value of a control variable coll_tuned_<collective>_algorithm.
struct Forcing {
  std::string operation;
  const Tuning* tuning = nullptr;
  /// Open MPI's word for the algorithm.
  std::string word;
  int value = 0;
  /// Whether the variable can be set at run time. Some can only be set before MPI_Init.
  bool writable = true;

  /// The name of the control variable, for example "coll_tuned_bcast_algorithm".
  [[nodiscard]] std::string variable() const {
    return "coll_tuned_" + std::string(tuning->collective) + "_algorithm";
  }
  /// The algorithm's name in this program, for example "tuned_ring".
  [[nodiscard]] std::string name() const;
  /// Operation and name, which together are unique.
  [[nodiscard]] std::string label() const { return operation + "/" + name(); }
  /// The environment that the process must be started with; empty if the variable is writable.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
  /// The function of Open MPI that performs the algorithm; see interposer.hpp.
  [[nodiscard]] std::string function() const;
};

/// A component of Open MPI that gets a higher priority than coll/tuned when the processes start.
struct Component {
  std::string_view name;
  /// The name of its library.
  std::string_view library;
  /// The control variable of its priority.
  std::string_view variable;
  /// The control variables that choose the component's algorithm, and their value.
  std::vector<std::string_view> choices = {};
  int choice = 0;
  /// Whether it performs only collectives between hosts.
  bool needs_hosts = false;
  /// Whether it adds contributions in the order in which they arrive.
  bool adds_on_arrival = false;
  /// Open MPI's words for the collectives that it performs.
  std::vector<std::string_view> collectives;
  /// The collectives that it performs only if all hosts have the same number of members, one behind
  /// another. It leaves others to the next component.
  std::vector<std::string_view> even_collectives = {};

  [[nodiscard]] std::map<std::string, std::string> environment() const {
    std::map<std::string, std::string> all{{"OMPI_MCA_" + std::string(variable), "100"}};
    for (const std::string_view each : choices)
      all["OMPI_MCA_" + std::string(each)] = std::to_string(choice);
    return all;
  }
};

/// The components that can be forced for one operation. Empty unless the library has their
/// variables, and interposer.hpp sees them. The tool interface must be open.
[[nodiscard]] std::vector<const Component*> find_components(const NamedOperation& operation);

/// Whether this process was started with the environment of a component.
[[nodiscard]] bool was_started_for_component();

/// Says why Open MPI (4.1) would leave the call to another component. Empty if it would not.
/// `hosts` has the host of each member.
[[nodiscard]] std::string_view why_component_refuses(const Component& component,
                                                     std::string_view collective,
                                                     const std::vector<int>& hosts);

/// Keeps MPI's tool interface open.
class ToolInterface {
 public:
  ToolInterface();
  ToolInterface(const ToolInterface&) = delete;
  ToolInterface& operator=(const ToolInterface&) = delete;
  ~ToolInterface();
};

/// The forcings of one operation, which must outlive them. Empty unless the process was started
/// with coll_tuned_use_dynamic_rules. The tool interface must be open.
[[nodiscard]] std::vector<Forcing> find_forcings(const NamedOperation& operation);

/// Says why forcing makes no sense for this call: Open MPI (4.1) would return an error or run
/// another algorithm. Empty if Open MPI runs the algorithm itself, which interposer.hpp verifies.
[[nodiscard]] std::string_view why_unforceable(const Forcing& forcing, const ForcedUse& use);

/// What is set while communicators are made that use the forced algorithm, by a SettingScope.
/// `segment_bytes` 0 means default_segment_bytes, which is so small that small calls have several
/// segments. Throws std::runtime_error if the library does not have the value.
[[nodiscard]] std::vector<Setting> settings_of(const Forcing& forcing, int segment_bytes);

/// Bytes of a segment if a call names none.
inline constexpr int default_segment_bytes = 16;

}  // namespace rankcheck::gpu::mpi
