#pragma once

#include <filesystem>
#include <string>

#include "harness/report/report.hpp"

namespace rankcheck::harness::page {

/// One page that shows a run to people: a whole document that loads nothing. Equal reports give
/// equal pages.
[[nodiscard]] std::string to_html(const Report& report);

/// Writes report.html, whole or not at all. Throws FileError.
void write_page(const std::filesystem::path& folder, const Report& report);

}  // namespace rankcheck::harness::page
