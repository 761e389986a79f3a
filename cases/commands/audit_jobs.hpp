#pragma once

#include <cstddef>
#include <functional>

namespace rankcheck::cases {

/// Calls work(i) for every i below `count` on `jobs` threads, and shows on a terminal how many are
/// done.
void for_each_index(std::size_t count, int jobs, const std::function<void(std::size_t)>& work);

}  // namespace rankcheck::cases
