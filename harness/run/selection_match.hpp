#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/backend/backend.hpp"
#include "harness/base/stop.hpp"
#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"
#include "harness/run/available_backends.hpp"
#include "harness/run/selection.hpp"
#include "harness/suite/suite_file.hpp"

/// What a selection selects, by names.
namespace rankcheck::harness::run {

/// Whether the text is a shell pattern and not a name.
[[nodiscard]] bool is_pattern(const std::string& text);

/// Whether one of the patterns matches the text. No patterns match everything, and all match "*",
/// which stands for something unknown.
[[nodiscard]] bool fits(const std::vector<std::string>& patterns, const std::string& text);

/// Whether an entry of a suite contains a check of the operation that the selection takes. Only
/// names are compared; no backend is asked.
[[nodiscard]] bool may_select(const Selection& selection,
                              const Operation& operation,
                              const SuiteEntry& entry);
/// Does the same for any operation.
[[nodiscard]] bool may_select(const Selection& selection,
                              const Catalogue& catalogue,
                              const SuiteEntry& entry);

[[nodiscard]] bool is_selected(const Selection& selection, const Unit& unit);

/// Returns the backends for which `suite.entries[index]` is meant, with those of the `named` ones
/// that stand for one of them. An entry for a backend that stands for unmentioned ones is also for
/// named backends that no entry means.
[[nodiscard]] std::vector<std::string> backends_of_entry(const Suite& suite,
                                                         std::size_t index,
                                                         const std::vector<std::string>& named,
                                                         const AvailableBackends& backends);

/// Throws BadInput for a pattern of the selection that matches no operation or no property.
void require_names(const Selection& selection, const Catalogue& catalogue);

/// What is assumed of a backend that cannot run here and does not know its algorithms.
enum class Unknown : std::uint8_t { may_match, matches_nothing };

/// Throws BadInput for a pattern of the selection that matches no algorithm of any backend.
/// `opened` has the algorithms of backends that are open already. Opens the others if a pattern
/// matches none of these.
void require_algorithms(const Selection& selection,
                        const std::map<std::string, std::vector<AlgorithmInfo>>& opened,
                        const AvailableBackends& backends,
                        const StopRequest& stop,
                        Unknown unknown);

}  // namespace rankcheck::harness::run
