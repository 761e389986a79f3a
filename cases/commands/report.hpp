#pragma once

#include <filesystem>
#include <string>

#include "harness/report.hpp"

namespace rankcheck::cases {

/// Why a run ended early and the command that goes on with it; empty where it was completed.
[[nodiscard]] std::string how_to_go_on(const harness::Report& report,
                                       const std::filesystem::path& folder);

}  // namespace rankcheck::cases
