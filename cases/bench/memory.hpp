#pragma once

namespace rankcheck::cases::bench {

/// The peak memory of this process and all that it started, since restart_peak_memory, in bytes:
/// the sum of the processes' own peaks, in which memory that several processes have in common
/// counts once, by the shares (PSS) that the system tells at the moment of the call. 0 where it is
/// unknown.
[[nodiscard]] double peak_memory_bytes();

/// Forgets the peaks so far, where the system allows it.
void restart_peak_memory();

}  // namespace rankcheck::cases::bench
