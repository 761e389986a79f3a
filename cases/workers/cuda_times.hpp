#pragma once

#include "cases/backends/algorithms.hpp"
#include "cases/bench/device_times.hpp"

namespace rankcheck::cases {

/// Measures a case on logical devices, one for each rank, by CUDA's events: from when all streams
/// may begin, with all work enqueued, until all are done. The floor has the same devices and
/// streams: for collectives, a copy of each rank's longer buffer; for operators, both transforms of
/// each rank's frames, by cuFFT. Throws gpu::DeviceError, also where the runs left another result
/// than one before them that no graph replayed, and harness::BadInput where nothing takes the case.
[[nodiscard]] bench::Times time_on_devices(const Algorithms& algorithms,
                                           const bench::TimesRequest& request);

}  // namespace rankcheck::cases
