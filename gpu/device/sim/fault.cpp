#include "gpu/device/sim/fault.hpp"

#include <array>
#include <charconv>
#include <cstddef>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::sim {

namespace {

constexpr std::array<std::string_view, 7> kind_names{
    "flip", "lost", "duplicate", "late", "dead_rank", "stale", "overrun"};

}  // namespace

std::span<const std::string_view> fault_kinds() {
  return kind_names;
}

std::string to_text(const Fault& fault) {
  return std::string(kind_names[spec::to_size(fault.kind)]) + ":" + std::to_string(fault.target);
}

std::optional<Fault> parse_fault(std::string_view text) {
  for (std::size_t i = 0; i < kind_names.size(); ++i) {
    const std::string_view name = kind_names[i];
    if (!text.starts_with(name) || text.substr(name.size(), 1) != ":") continue;
    Fault fault{.kind = static_cast<Fault::Kind>(i)};
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data() + name.size() + 1, end, fault.target);
    if (error == std::errc{} && parsed == end && fault.target >= 0) return fault;
  }
  return std::nullopt;
}

}  // namespace rankcheck::gpu::sim
