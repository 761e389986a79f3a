#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/share.hpp"

#include "cases/reconstruct/reconstruction.hpp"
#include "cases/reconstruct/shards.hpp"

/// The ranks that hold the parts of a reconstruction.
namespace rankcheck::cases::reconstruct {

/// Returns the part of the object that each rank holds: all of it, or the box that its windows
/// touch.
[[nodiscard]] std::vector<spec::Box> held_by_ranks(const Problem& problem,
                                                   const Shards& shards,
                                                   const spec::Scene& scene);

/// Returns the lowest rank that holds each pixel of the object; -1 if no rank holds it.
[[nodiscard]] std::vector<int> lowest_holders(const spec::Scene& scene,
                                              const std::vector<spec::Box>& held);

/// Returns the rank that owns each position.
[[nodiscard]] std::vector<int> owners_of(const Shards& shards, std::int64_t count);

}  // namespace rankcheck::cases::reconstruct
