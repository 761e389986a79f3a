#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The transports that Open MPI can be forced to use between the processes of a host. Other MPI
/// libraries have no such components, so nothing is found there.
namespace rankcheck::gpu::mpi {

/// How data goes from process to process. Open MPI chooses it when the processes start.
struct Transport {
  std::string_view name;
  /// How messages go, for people: the end of a sentence.
  std::string_view carrier;
  /// The environment that the processes must be started with.
  std::map<std::string, std::string> environment;
  /// The library of the component that carries the data.
  std::string_view component;
  /// The library of a component that would carry the data otherwise. Empty if there is none.
  std::string_view rival;
  /// A control variable that the component sets to another value if it cannot use the transport,
  /// and the word of its value. Empty if there is none.
  std::string_view variable;
  std::string_view word;
};

/// The transports that the library has and this machine allows. Empty if the components of the
/// library are not files that the process loads. The tool interface must be open.
[[nodiscard]] std::vector<const Transport*> find_transports();

/// Throws WrongPath unless this process has loaded the transport's component, has not
/// loaded its rival, and the control variable has its value. The tool interface must be open.
void require_transport(const Transport& transport);

}  // namespace rankcheck::gpu::mpi
