#pragma once

namespace rankcheck::harness::run {

/// Exit status: everything that was required held.
inline constexpr int status_held = 0;
/// Exit status: something was falsified, flaky, hung, crashed or vacuous.
inline constexpr int status_failed = 1;
/// Exit status: could not run because of bad arguments, unreadable files, or a missing backend that
/// was named.
inline constexpr int status_unable = 2;

}  // namespace rankcheck::harness::run
