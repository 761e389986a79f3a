#pragma once

#include <cstdint>
#include <string_view>

namespace rankcheck::cases {

/// Throws BadInput where the buffers of so many ranks would not leave most of the memory free.
void expect_memory(std::string_view place, int ranks, double bytes);

/// A share of this machine's memory.
enum class MemoryShare : std::uint8_t { quarter, three_quarters };

/// Throws BadInput where something else in this process would take more than a share of the
/// memory: "--verify 1", "the reference", bytes. Data that nothing can be done without may take
/// three quarters.
void expect_memory(std::string_view place,
                   std::string_view what,
                   double bytes,
                   MemoryShare share = MemoryShare::quarter);

}  // namespace rankcheck::cases
