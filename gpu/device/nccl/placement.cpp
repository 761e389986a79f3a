#include "gpu/device/nccl/placement.hpp"

#include <array>
#include <utility>

namespace rankcheck::gpu::nccl {

int device_of(int rank, int devices) {
  return rank % devices;
}

bool share_devices(int ranks, int devices) {
  return ranks > devices;
}

std::map<std::string, std::string> environment_of_sharing(int rank, const Variables& variables) {
  std::map<std::string, std::string> environment{
      {"NCCL_HOSTID", "rankcheck-" + std::to_string(rank)}};
  // Between hosts, every communicator with resources of its own takes tens of MB of /dev/shm.
  constexpr std::array<std::pair<const char*, const char*>, 7> defaults{
      {{"NCCL_NET", "Socket"},
       {"NCCL_IB_DISABLE", "1"},
       {"NCCL_SOCKET_IFNAME", "lo"},
       {"NCCL_MNNVL_ENABLE", "0"},
       {"NCCL_NVLS_ENABLE", "0"},
       {"NCCL_COMM_SPLIT_SHARE_RESOURCES", "1"},
       {"NCCL_MAX_NCHANNELS", "1"}}};
  for (const auto& [name, value] : defaults) {
    if (variables(name).empty()) environment[name] = value;
  }
  return environment;
}

bool lets_peers_reach(const Variables& variables) {
  const std::string disable = variables("NCCL_P2P_DISABLE");
  const std::string level = variables("NCCL_P2P_LEVEL");
  return (disable.empty() || disable == "0") && level != "LOC" && level != "0";
}

}  // namespace rankcheck::gpu::nccl
