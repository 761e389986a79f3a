#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace rankcheck::harness::run {

/// The bytes that programs can still get without swapping, as Linux estimates them (MemAvailable).
/// Elsewhere, all memory of this machine. At most what the control groups of this process leave, as
/// in a container. The files of Linux are read below `root`.
[[nodiscard]] std::int64_t available_memory(const std::filesystem::path& root = "/");

/// Throws BadInput if `bytes`, the buffers of `ranks` ranks, are more than a quarter of this
/// machine's memory. `place` names the option or field that is to blame.
void require_memory(std::string_view place, int ranks, double bytes);

/// A share of this machine's memory.
enum class MemoryShare : std::uint8_t { quarter, three_quarters };

/// Throws BadInput if `bytes`, which `what` takes, are more than the given share of this machine's
/// memory. For example, `place` is "--verify 1" and `what` is "the reference". Only indispensable
/// data may take three quarters.
void require_memory(std::string_view place,
                    std::string_view what,
                    double bytes,
                    MemoryShare share = MemoryShare::quarter);

}  // namespace rankcheck::harness::run
