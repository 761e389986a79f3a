#pragma once

#include <filesystem>
#include <string>

#include "harness/report/report.hpp"

namespace rankcheck::cases {

/// Says why a run ended early and which command continues it. Empty if the run was completed.
/// `program` is how the user called this program.
[[nodiscard]] std::string how_to_go_on(const harness::Report& report,
                                       const std::filesystem::path& folder,
                                       const std::string& program);

/// If the exit status is 2, prints one line to stderr that says why the run or gate in the folder
/// could not be made.
void complain_if_unable(int status,
                        const harness::Report& report,
                        const std::filesystem::path& folder,
                        const std::string& program);

}  // namespace rankcheck::cases
