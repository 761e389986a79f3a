#pragma once

#include <string>
#include <vector>

#include "harness/base/random_source.hpp"
#include "harness/case/case.hpp"

/// How the ranks of a case are spread over hosts; see Case::hosts.
namespace rankcheck::harness {

/// Numbers the hosts in the order in which they appear. Returns an empty list if there is only one.
[[nodiscard]] std::vector<int> numbered(const std::vector<int>& hosts);

/// The host of each member, in the order of the group. Empty if all ranks are on one host.
[[nodiscard]] std::vector<int> hosts_of_members(const Case& c);

/// Draws hosts for two ranks or more: two to four hosts with any numbers of ranks, whose ranks
/// stand one behind another or not.
[[nodiscard]] std::vector<int> draw_hosts(RandomSource& random, int ranks);

/// Why the hosts are none for this number of ranks. Empty if they are.
[[nodiscard]] std::string why_hosts_invalid(const std::vector<int>& hosts, int ranks);

}  // namespace rankcheck::harness
