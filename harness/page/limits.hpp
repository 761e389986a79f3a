#pragma once

#include <cstddef>

namespace rankcheck::harness::page {

/// A page has at most this many bytes, whatever the run is. The limits below see to it.
inline constexpr std::size_t page_bytes_max = 10'000'000;

/// A page has at most this many cards.
inline constexpr std::size_t cards_max = 200;
/// No further card begins when the page has this size. What is left is counted in a table.
inline constexpr std::size_t cards_bytes_max = 4'000'000;
/// A longer command is not shown, because a case may have thousands of numbers.
inline constexpr std::size_t command_bytes_max = 20'000;
/// The same for all findings of a card but the first.
inline constexpr std::size_t further_command_bytes_max = 2'000;

/// Bytes of the tables of algorithms and properties, and of the heat maps of single operations.
inline constexpr std::size_t details_bytes_max = 1'500'000;
inline constexpr std::size_t maps_bytes_max = 1'000'000;

/// At most this many rows of a table, and this many bytes of a name.
inline constexpr std::size_t rows_max = 200;
inline constexpr std::size_t name_bytes_max = 120;

}  // namespace rankcheck::harness::page
