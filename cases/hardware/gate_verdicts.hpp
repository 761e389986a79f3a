#pragma once

#include <string>

#include "cases/hardware/gate.hpp"

/// How the gate judges links, devices and phases.
namespace rankcheck::cases::hardware {

/// The operation that findings of links name.
inline constexpr const char* link_operation = "link";

/// For example "within 0" or "0 to 1".
[[nodiscard]] std::string name_of(const Link& link);

/// Adds the outcome of one more probe to its link, and judges it.
void take(const ProbeAnswer& answer, Link& link);

}  // namespace rankcheck::cases::hardware
