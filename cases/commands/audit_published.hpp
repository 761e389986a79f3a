#pragma once

#include <cstddef>
#include <functional>

#include "harness/check/operation.hpp"

#include "cases/audit/catalogue.hpp"

namespace rankcheck::cases {

/// Looks for each published defect that is planted, with its own property, and prints the
/// scoreboard as a table or as JSON. Looks for defects of huge buffers only if `huge` is set.
/// Returns the exit status: 0 if each of them was caught as required, else 1.
int audit_published(const harness::Catalogue& catalogue,
                    const audit::HuntOptions& options,
                    bool huge,
                    int jobs,
                    bool as_json);

/// Calls work(i) for every i below `count` on `jobs` threads, and shows on a terminal how many are
/// done.
void for_each_index(std::size_t count, int jobs, const std::function<void(std::size_t)>& work);

}  // namespace rankcheck::cases
