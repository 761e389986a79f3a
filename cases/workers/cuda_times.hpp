#pragma once

#include "cases/devices/algorithms.hpp"
#include "cases/devices/device_times.hpp"

namespace rankcheck::cases {

/// Measures a case on logical devices, one for each rank, with CUDA's events. The time runs from
/// the moment when all streams may begin, with all work enqueued, until all streams are done. The
/// floor uses the same devices and streams. For collectives it is a copy of each rank's longer
/// buffer. For operators it is both transforms of each rank's frames, by cuFFT. Throws
/// gpu::DeviceError, also if the runs leave another result than a first run without graphs. Throws
/// harness::BadInput if no algorithm takes the case, or if the case is in place.
[[nodiscard]] bench::Times time_on_devices(const Algorithms& algorithms,
                                           const bench::TimesRequest& request);

}  // namespace rankcheck::cases
