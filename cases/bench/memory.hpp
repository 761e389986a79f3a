#pragma once

namespace rankcheck::cases::bench {

/// The peak memory of this process and all that it started, since restart_peak_memory, in bytes:
/// the sum of the peaks, in which pages that processes share count for each. 0 where it is unknown.
[[nodiscard]] double peak_memory_bytes();

/// Forgets the peaks so far, where the system allows it.
void restart_peak_memory();

}  // namespace rankcheck::cases::bench
