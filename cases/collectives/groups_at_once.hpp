#pragma once

#include "harness/check/operation.hpp"

namespace rankcheck::cases {

/// Groups that cover the world call at the same time, then the world calls. All calls agree with
/// the reference. In a barrier, no rank leaves before its group has entered. The data seed decides
/// how the members of the case are divided: into runs of one length, into every s-th member, or
/// into runs of any length.
[[nodiscard]] harness::Property groups_at_once();

}  // namespace rankcheck::cases
