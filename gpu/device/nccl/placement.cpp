#include "gpu/device/nccl/placement.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <sys/statvfs.h>

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

std::string why_too_small(const std::string& folder, int ranks) {
  // The size of NCCL 2.28's pool of network operations, one for each rank.
  constexpr std::uint64_t mib_of_rank = 34;
  const std::uint64_t needed_mib = mib_of_rank * static_cast<std::uint64_t>(ranks);
  struct statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return {};
  const std::uint64_t there_mib = std::uint64_t{found.f_bavail} * found.f_frsize >> 20;
  if (there_mib >= needed_mib) return {};
  return folder + ": found " + std::to_string(there_mib) + " MiB, expected " +
         std::to_string(needed_mib) + " MiB for " + std::to_string(ranks) +
         " ranks that share devices: mount it with more (of a container: --shm-size=1g)";
}

bool lets_peers_reach(const Variables& variables) {
  const std::string disable = variables("NCCL_P2P_DISABLE");
  const std::string level = variables("NCCL_P2P_LEVEL");
  return (disable.empty() || disable == "0") && level != "LOC" && level != "0";
}

}  // namespace rankcheck::gpu::nccl
