#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankcheck::harness {

/// "; did you mean all_reduce, reduce?": the names closest to one that is unknown, three at most;
/// empty where none is close.
[[nodiscard]] std::string did_you_mean(std::string_view unknown,
                                       const std::vector<std::string>& names);

}  // namespace rankcheck::harness
