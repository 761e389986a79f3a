#pragma once

#include "harness/compare/trend.hpp"
#include "harness/page/html.hpp"

namespace rankcheck::harness::compare {

/// Writes the runs in the order of time, and each operation and backend over them: its verdict, its
/// worst error/bound and its cases per second. Nothing if there are only two runs.
void write_trend(page::Html& html, const Trend& trend);

}  // namespace rankcheck::harness::compare
