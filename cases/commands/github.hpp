#pragma once

#include <string>
#include <vector>

#include "harness/report/github.hpp"

namespace rankcheck::cases {

/// Tells GitHub Actions what came out, if this program runs in one of its steps. Prints the
/// annotations if GITHUB_ACTIONS in the environment is "true". Appends the summary, which is
/// Markdown, to the file that GITHUB_STEP_SUMMARY names. If the file cannot be written, prints one
/// line to stderr and goes on: the exit status belongs to what was checked.
void tell_github(const std::string& summary,
                 const std::vector<harness::github::Annotation>& annotations);

/// The same for the report of a run.
void tell_github(const harness::Report& report, const harness::SummaryNotes& notes = {});

}  // namespace rankcheck::cases
