#include "gpu/device/mpi/transport.hpp"

#include <filesystem>
#include <fstream>
#include <optional>

#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include "gpu/device/mpi/variable.hpp"
#include "gpu/device/wrong_path.hpp"

namespace rankcheck::gpu::mpi {

namespace {

constexpr std::string_view shared_memory = "mca_btl_vader";

const std::vector<Transport>& all_transports() {
  static const std::vector<Transport> all{
      {.name = "over_tcp",
       .carrier = "by TCP on the loopback interface",
       .environment = {{"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_btl_tcp_if_include", "lo"}},
       .component = "mca_btl_tcp",
       .rival = shared_memory,
       .variable = {},
       .word = {}},
      // Messages above the eager limit are copied from the memory of the sender. Most cases are far
      // below the usual limit.
      {.name = "over_cma",
       .carrier =
           "copies from the sender's memory (Cross Memory Attach) if they are dense and have more "
           "than about 200 bytes, and else in shared memory",
       .environment = {{"OMPI_MCA_btl_vader_single_copy_mechanism", "cma"},
                       {"OMPI_MCA_btl_vader_eager_limit", "256"}},
       .component = shared_memory,
       .rival = {},
       .variable = "btl_vader_single_copy_mechanism",
       .word = "cma"},
      // Open MPI takes UCX by itself only for certain network devices.
      {.name = "over_ucx",
       .carrier = "by UCX in shared memory",
       .environment = {{"OMPI_MCA_pml", "ucx"},
                       {"OMPI_MCA_opal_common_ucx_tls", "any"},
                       {"OMPI_MCA_opal_common_ucx_devices", "any"},
                       {"UCX_TLS", "sm,self"}},
       .component = "mca_pml_ucx",
       .rival = "mca_pml_ob1",
       .variable = {},
       .word = {}}};
  return all;
}

/// The file of a component that this process has loaded. Empty if it has not.
std::filesystem::path loaded(std::string_view component) {
  struct Search {
    std::string name;
    std::filesystem::path found;
  } search{.name = std::string(component) + ".so", .found = {}};
  const auto visit = [](dl_phdr_info* info, std::size_t /*bytes*/, void* data) {
    auto& wanted = *static_cast<Search*>(data);
    const std::filesystem::path file = info->dlpi_name;
    if (file.filename() != wanted.name) return 0;
    wanted.found = file;
    return 1;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}

/// The value that has this word. Empty if no value has it.
std::optional<int> value_of(const Variable& variable, std::string_view word) {
  for (const Variable::Item& each : variable.items()) {
    if (each.word == word) return each.value;
  }
  return std::nullopt;
}

/// Whether processes of this user may read each other's memory, if they allow it.
bool may_read_processes() {
  std::ifstream restriction("/proc/sys/kernel/yama/ptrace_scope");
  int level = 0;
  if (restriction >> level && level > 1) return false;
  // A container may forbid the system call altogether.
  char from = 1;
  char to = 0;
  const iovec local{.iov_base = &to, .iov_len = 1};
  const iovec remote{.iov_base = &from, .iov_len = 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1;
}

}  // namespace

std::vector<const Transport*> find_transports() {
  std::vector<const Transport*> found;
  // Every process has this component, whatever the transport.
  const std::filesystem::path self = loaded("mca_btl_self");
  if (self.empty()) return found;
  for (const Transport& each : all_transports()) {
    const auto file = self.parent_path() / (std::string(each.component) + ".so");
    if (!std::filesystem::exists(file)) continue;
    if (each.word == "cma" && !may_read_processes()) continue;
    // A library may be built without it. Another transport may have left out the component, which
    // has the variable.
    const auto variable =
        each.variable.empty() ? std::nullopt : Variable::find(std::string(each.variable));
    if (variable && !value_of(*variable, each.word)) continue;
    found.push_back(&each);
  }
  return found;
}

void require_transport(const Transport& transport) {
  const std::string forced = std::string(transport.name) + ": forced, but ";
  if (loaded(transport.component).empty())
    throw WrongPath(forced + std::string(transport.component) + " was not loaded");
  if (!transport.rival.empty() && !loaded(transport.rival).empty())
    throw WrongPath(forced + std::string(transport.rival) + " was loaded, too");
  if (transport.variable.empty()) return;
  const auto variable = Variable::find(std::string(transport.variable));
  const auto value = variable ? value_of(*variable, transport.word) : std::nullopt;
  const bool has_value = value && *value == variable->read();
  if (!has_value) {
    throw WrongPath(forced + std::string(transport.variable) + " is not " +
                    std::string(transport.word));
  }
}

}  // namespace rankcheck::gpu::mpi
