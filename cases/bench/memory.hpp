#pragma once

namespace rankcheck::cases::bench {

/// Returns the peak memory in bytes of this process and all processes that it started, since
/// restart_peak_memory(). This is the sum of the processes' own peaks. Memory that several
/// processes share counts once, according to the shares (PSS) that the system reports at the time
/// of the call. Returns 0 if the peak is unknown.
[[nodiscard]] double peak_memory_bytes();

/// Resets the peaks, if the system allows it.
void restart_peak_memory();

}  // namespace rankcheck::cases::bench
