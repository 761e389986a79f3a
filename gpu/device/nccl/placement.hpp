#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Decides which device and which host a rank uses, and sets NCCL's environment so that NCCL
/// accepts this.
namespace rankcheck::gpu::nccl {

/// The value of an environment variable; empty if it is not set.
using Variables = std::function<std::string(const char* name)>;

/// The device of a world rank: the rank modulo the number of devices.
[[nodiscard]] int device_of(int rank, int devices);

/// Whether several ranks share a device.
[[nodiscard]] bool share_devices(int ranks, int devices);

/// The host that NCCL is told for a rank. `hosts` has the hosts of the first ranks, and is empty if
/// nobody named hosts. Other ranks are on host 0; if ranks share devices, each is a host of its
/// own. No value: NCCL is told nothing, because all ranks are on one host.
[[nodiscard]] std::optional<int> host_of(int rank,
                                         const std::vector<int>& hosts,
                                         bool shares_devices);

/// Says which ranks of one host would share a device, which NCCL refuses. Empty if none do.
[[nodiscard]] std::string why_hosts_refused(const std::vector<int>& hosts, int devices);

/// The environment for the process of a rank on this host, which other hosts reach through a
/// socket. So NCCL accepts ranks of different hosts on one device. Resources are limited so that
/// all ranks fit on the device. Variables that the user has set stay, except the host's name, which
/// would be the same for all ranks.
[[nodiscard]] std::map<std::string, std::string> environment_of_host(int host,
                                                                     const Variables& variables);

/// Says why `folder`, NCCL's folder for shared memory, is too small, and how to fix it. NCCL 2.28
/// keeps data there for each of the `ranks` ranks if they share devices. Empty if it is large
/// enough.
[[nodiscard]] std::string why_too_small(const std::string& folder, int ranks);

/// Whether the user's settings allow NCCL to copy directly between devices, whatever connects them
/// (NCCL_P2P_DISABLE, NCCL_P2P_LEVEL).
[[nodiscard]] bool lets_peers_reach(const Variables& variables);

}  // namespace rankcheck::gpu::nccl
