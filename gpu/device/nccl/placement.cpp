#include "gpu/device/nccl/placement.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <sys/statvfs.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::nccl {

int device_of(int rank, int devices) {
  return rank % devices;
}

bool share_devices(int ranks, int devices) {
  return ranks > devices;
}

std::optional<int> host_of(int rank, const std::vector<int>& hosts, bool shares_devices) {
  const int named = static_cast<int>(hosts.size());
  if (rank < named) return hosts[spec::to_size(rank)];
  if (shares_devices) return named + rank;
  return named > 0 ? std::optional(0) : std::nullopt;
}

std::string why_hosts_refused(const std::vector<int>& hosts, int devices) {
  std::map<std::pair<int, int>, std::size_t> first;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const int device = device_of(static_cast<int>(rank), devices);
    const auto [found, is_new] = first.try_emplace({hosts[rank], device}, rank);
    if (is_new) continue;
    return "hosts: NCCL takes one rank of a host on each device: ranks " +
           std::to_string(found->second) + " and " + std::to_string(rank) + " of host " +
           std::to_string(hosts[rank]) + " would share a device";
  }
  return {};
}

std::map<std::string, std::string> environment_of_host(int host, const Variables& variables) {
  std::map<std::string, std::string> environment{
      {"NCCL_HOSTID", "rankcheck-" + std::to_string(host)}};
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
