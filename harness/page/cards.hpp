#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/page/causes.hpp"
#include "harness/page/html.hpp"
#include "harness/page/limits.hpp"

namespace rankcheck::harness::page {

/// How the cards of a section are written.
struct CardOptions {
  /// The ids of the cards are this word and a number from 1 on, such as "failure-1".
  std::string id = "failure";
  /// At most this many cards are written, of which the first are open.
  std::size_t most = cards_max;
  std::size_t open_max = 3;
  /// What else there is to say of a finding, in a sentence. May be empty.
  std::function<std::string(const Finding&)> say_more = {};
  /// What lists the findings that have no card.
  std::string whole_list = "report.json";
};

/// Writes the command that runs a failure again, if there is one that is short enough for the first
/// screen.
void write_short_replay(Html& html, const Finding& finding);

/// Writes a card for each group. A table counts the findings of groups that have no card. Returns
/// the number of cards.
std::size_t write_cards(Html& html,
                        const std::vector<FailureGroup>& groups,
                        const CardOptions& options = {});

}  // namespace rankcheck::harness::page
