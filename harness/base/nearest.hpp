#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankcheck::harness {

/// "; did you mean all_reduce, reduce?": up to three known names that are closest to an unknown
/// name. Empty if no name is close.
[[nodiscard]] std::string did_you_mean(std::string_view unknown,
                                       const std::vector<std::string>& names);

}  // namespace rankcheck::harness
