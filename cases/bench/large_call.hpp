#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "harness/case.hpp"

#include "cases/bench/bench.hpp"

namespace rankcheck::cases::bench {

/// The call of a collective whose longer buffer has about `bytes` bytes on every rank.
[[nodiscard]] harness::Case large_case(std::string_view operation,
                                       std::string_view algorithm,
                                       int ranks,
                                       std::int64_t bytes);

/// What the images of all ranks of a case take.
[[nodiscard]] double image_bytes(const harness::Case& c);

/// Runs of a case by a backend whose processes say when they entered and left; the time of one goes
/// from the first rank's entry to the last one's leaving.
[[nodiscard]] Run stamped_run(Bench& bench, const harness::Case& c);

/// Measures a case on CUDA devices, against copies or transforms on the same; see
/// cases/workers/cuda_times.hpp. Throws std::runtime_error.
[[nodiscard]] std::function<Times()> times_on_cuda(const Bench& bench, const harness::Case& c);

}  // namespace rankcheck::cases::bench
