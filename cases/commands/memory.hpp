#pragma once

#include <cstdint>
#include <string_view>

namespace rankcheck::cases {

/// Throws BadInput if the buffers of so many ranks take more than a quarter of this machine's
/// memory.
void expect_memory(std::string_view place, int ranks, double bytes);

/// A share of this machine's memory.
enum class MemoryShare : std::uint8_t { quarter, three_quarters };

/// Throws BadInput if `what` takes more than the given share of this machine's memory. `place`
/// names the option or field that is to blame, for example "--verify 1" with `what` "the
/// reference". Only indispensable data may take three quarters.
void expect_memory(std::string_view place,
                   std::string_view what,
                   double bytes,
                   MemoryShare share = MemoryShare::quarter);

}  // namespace rankcheck::cases
