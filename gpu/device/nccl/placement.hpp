#pragma once

#include <functional>
#include <map>
#include <string>

/// Decides which device a rank uses, and sets NCCL's environment so that NCCL accepts this.
namespace rankcheck::gpu::nccl {

/// The value of an environment variable; empty if it is not set.
using Variables = std::function<std::string(const char* name)>;

/// The device of a world rank: the rank modulo the number of devices.
[[nodiscard]] int device_of(int rank, int devices);

/// Whether several ranks share a device.
[[nodiscard]] bool share_devices(int ranks, int devices);

/// The environment for the process of a rank that shares its device, so that NCCL accepts several
/// ranks on one device. Each rank is a host of its own, which the others reach through a socket.
/// Resources are limited so that all ranks fit on the device. Variables that the user has set stay,
/// except the host's name, which would be the same for all ranks.
[[nodiscard]] std::map<std::string, std::string> environment_of_sharing(int rank,
                                                                        const Variables& variables);

/// Says why `folder`, NCCL's folder for shared memory, is too small, and how to fix it. NCCL 2.28
/// keeps data there for each of the `ranks` ranks if they share devices. Empty if it is large
/// enough.
[[nodiscard]] std::string why_too_small(const std::string& folder, int ranks);

/// Whether the user's settings allow NCCL to copy directly between devices, whatever connects them
/// (NCCL_P2P_DISABLE, NCCL_P2P_LEVEL).
[[nodiscard]] bool lets_peers_reach(const Variables& variables);

}  // namespace rankcheck::gpu::nccl
