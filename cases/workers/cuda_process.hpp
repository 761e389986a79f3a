#pragma once

#include <cstdlib>

#include "harness/worker/serve.hpp"

#include "cases/backends/cuda.hpp"

/// What every program that works on CUDA devices does first.
namespace rankcheck::cases {

/// How many hardware queues streams are spread over: at most 32.
inline constexpr const char* queues_variable = "CUDA_DEVICE_MAX_CONNECTIONS";

/// Asks for as many queues as there can be, unless the user did. CUDA reads this when it is first
/// called. The default, 8, is fewer than there may be streams, and streams that share a queue keep
/// an order that nothing asked for.
inline void choose_queues() {
  ::setenv(queues_variable, "32", 0);
}

/// Lets this process end when its parent does. A launcher may start it from a thread that ends
/// earlier; behind one, the process ends with its connection, or when it is done.
inline void end_with_harness() {
  if (std::getenv(cuda_launcher_variable) == nullptr) harness::worker::end_with_parent();
}

}  // namespace rankcheck::cases
