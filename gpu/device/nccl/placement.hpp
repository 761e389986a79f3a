#pragma once

#include <functional>
#include <map>
#include <string>

/// Which device a rank is on, and what NCCL has to be told so that it takes that.
namespace rankcheck::gpu::nccl {

/// What the environment says under a name; empty where it says nothing.
using Variables = std::function<std::string(const char* name)>;

/// The device of a world rank: that of its number modulo how many there are.
[[nodiscard]] int device_of(int rank, int devices);

/// Whether there are ranks that have a device in common.
[[nodiscard]] bool share_devices(int ranks, int devices);

/// What the process of a rank that shares its device is started with, so that NCCL takes several on
/// one: each is a host of its own, which others reach through a socket, and small enough that all
/// of them fit on the device at the same time. What the user has set stays, but for the host's
/// name, which would be the same for all.
[[nodiscard]] std::map<std::string, std::string> environment_of_sharing(int rank,
                                                                        const Variables& variables);

/// Why `folder`, NCCL's place for shared memory, has too little room for what NCCL 2.28 keeps
/// there of `ranks` that share devices, and what would mend it; empty where it has enough.
[[nodiscard]] std::string why_too_small(const std::string& folder, int ranks);

/// Whether the user lets NCCL go straight from device to device, whatever joins them
/// (NCCL_P2P_DISABLE, NCCL_P2P_LEVEL).
[[nodiscard]] bool lets_peers_reach(const Variables& variables);

}  // namespace rankcheck::gpu::nccl
