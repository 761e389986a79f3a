#pragma once

#include <string_view>
#include <vector>

#include "reference/spec/contract.hpp"

namespace rankcheck::reference {

/// The contracts of all operations of all families, sorted by name.
[[nodiscard]] const std::vector<const spec::Contract*>& contracts();

/// Returns null if there is no such operation.
[[nodiscard]] const spec::Contract* find_contract(std::string_view operation);

/// Throws std::out_of_range if there is no such operation.
[[nodiscard]] const spec::Contract& contract_named(std::string_view operation);

}  // namespace rankcheck::reference
