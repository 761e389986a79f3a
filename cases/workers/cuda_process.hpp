#pragma once

#include <cstdio>
#include <cstdlib>

#include "harness/worker/serve.hpp"

#include "cases/backends/cuda.hpp"

/// The first steps of every program that works on CUDA devices.
namespace rankcheck::cases {

/// Environment variable of CUDA: over how many hardware queues streams are spread, at most 32.
inline constexpr const char* queues_variable = "CUDA_DEVICE_MAX_CONNECTIONS";

/// Asks for the largest number of queues, unless the user set a number. Must be called before the
/// first CUDA call, which reads the variable. CUDA's default, 8, may be fewer than the streams.
/// Streams that share a queue keep an order that nobody asked for.
inline void choose_queues() {
  ::setenv(queues_variable, "32", 0);
}

/// Lets this process end when its parent ends. With a launcher this is not possible: the launcher
/// may start the process from a thread that ends earlier. The process then ends with its
/// connection, or when it is done.
inline void end_with_harness() {
  if (std::getenv(cuda_launcher_variable) == nullptr) harness::worker::end_with_parent();
}

/// Ends the process if the devices no longer work. After most kernel errors nothing on the device
/// works; only a fresh process can continue.
template <class Devices>
void end_if_broken(const Devices& devices, const char* what) {
  if (devices.still_work()) return;
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(1);
}

}  // namespace rankcheck::cases
