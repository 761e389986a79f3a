#pragma once

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "gpu/device/cluster.hpp"
#include "gpu/device/hybrid/devices.hpp"
#include "gpu/device/hybrid/mpi_processes.hpp"
#include "gpu/device/hybrid/placement.hpp"

/// What the programs for MPI processes with several devices share.
namespace rankcheck::cases {

/// Makes the devices of this process. Throws gpu::DeviceError if the world does not have the
/// processes that its ranks need, or if the devices cannot be used.
inline std::unique_ptr<gpu::hybrid::Devices> make_own_devices(
    const gpu::hybrid::Placement& placement, const gpu::hybrid::Processes& processes) {
  const int expected = gpu::hybrid::processes(placement);
  if (processes.size() != expected) {
    throw gpu::DeviceError(
        fmt::format("{} ranks on {} devices a process: got {} processes, "
                    "expected {}",
                    placement.ranks,
                    placement.devices_per_process,
                    processes.size(),
                    expected));
  }
  if (const auto complaints = gpu::hybrid::device_complaints(); !complaints.empty()) {
    throw gpu::DeviceError(complaints.front());
  }
  return gpu::hybrid::make_devices(gpu::hybrid::devices_of(placement, processes.rank()),
                                   processes.rank() * placement.devices_per_process);
}

}  // namespace rankcheck::cases
