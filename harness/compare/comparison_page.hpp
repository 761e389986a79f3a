#pragma once

#include <string>

#include "harness/compare/comparison_text.hpp"

namespace rankcheck::harness::compare {

/// One page that shows a comparison to people: a whole document that loads nothing, as `page/`
/// makes it for a run. Equal reports give equal pages.
[[nodiscard]] std::string to_html(const ComparedRuns& runs);

}  // namespace rankcheck::harness::compare
