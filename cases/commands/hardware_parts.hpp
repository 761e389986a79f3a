#pragma once

#include <string>
#include <vector>

#include "harness/run/selection.hpp"

#include "cases/hardware/gate.hpp"

/// What each part of the gate for hardware selects.
namespace rankcheck::cases {

/// Whether the selection includes a backend.
[[nodiscard]] bool selects_backend(const harness::run::Selection& selection,
                                   const std::string& backend);

/// Returns what a part of the gate checks if the whole gate checks `whole`.
[[nodiscard]] harness::run::Selection selection_of_part(const hardware::PhaseRequest& request,
                                                        const harness::run::Selection& whole);

/// Returns the targets whose operations are selected.
[[nodiscard]] std::vector<hardware::Target> targets_of(const harness::run::Selection& selection);

}  // namespace rankcheck::cases
