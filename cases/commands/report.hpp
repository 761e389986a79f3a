#pragma once

#include <filesystem>
#include <string>

#include "harness/report.hpp"

namespace rankcheck::cases {

/// Why a run ended early and the command that goes on with it, in which `program` is how the user
/// called this program; empty where the run was completed.
[[nodiscard]] std::string how_to_go_on(const harness::Report& report,
                                       const std::filesystem::path& folder,
                                       const std::string& program);

/// Where the exit status is 2, tells on stderr, in one line, why the run or gate in the folder
/// could not be made.
void complain_if_unable(int status,
                        const harness::Report& report,
                        const std::filesystem::path& folder,
                        const std::string& program);

}  // namespace rankcheck::cases
