#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "harness/case/case.hpp"

#include "cases/bench/bench.hpp"

namespace rankcheck::cases::bench {

/// Returns the call of a collective whose longer buffer has about `bytes` bytes on every rank.
[[nodiscard]] harness::Case large_case(std::string_view operation,
                                       std::string_view algorithm,
                                       int ranks,
                                       std::int64_t bytes);

/// Returns the bytes of the images of all ranks of a case.
[[nodiscard]] double image_bytes(const harness::Case& c);

/// Returns runs of a case on a backend of processes that report when they enter and leave a call.
/// The time of a run goes from the first rank's entry to the last rank's exit.
[[nodiscard]] Run stamped_run(Bench& bench, const harness::Case& c);

/// Returns a function that measures a case on CUDA devices, against copies or transforms on the
/// same devices. See cases/workers/cuda_times.hpp. The function throws std::runtime_error.
[[nodiscard]] std::function<Times()> times_on_cuda(const Bench& bench, const harness::Case& c);

}  // namespace rankcheck::cases::bench
