#pragma once

#include <string>
#include <vector>

#include "harness/compare/comparison.hpp"
#include "harness/report/github.hpp"

namespace rankcheck::harness::compare {

/// The annotations of a comparison that found something worse: one for each unit that is newly
/// broken or flaky, with the line that replays its case. If there is none, one with `verdict`.
[[nodiscard]] std::vector<github::Annotation> annotations_of(const Comparison& comparison,
                                                             const std::string& verdict);

}  // namespace rankcheck::harness::compare
