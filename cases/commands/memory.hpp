#pragma once

#include <string_view>

namespace rankcheck::cases {

/// Throws BadInput where the buffers of so many ranks would not leave most of the memory free.
void expect_memory(std::string_view place, int ranks, double bytes);

/// Likewise, of anything else in this process: "--verify 1", "the reference", bytes.
void expect_memory(std::string_view place, std::string_view what, double bytes);

}  // namespace rankcheck::cases
