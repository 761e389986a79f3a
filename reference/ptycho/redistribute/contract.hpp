#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::redistribute {

/// Moves what belongs to each scan position to the position's owner. Rank r's shard then holds the
/// copies of the positions that it owns, in the order of the positions' numbers, and behind them
/// zeros: a shard has room for all positions, because any rank may own all.
inline spec::Contract contract() {
  return {
      .name = "redistribute",
      .summary = "Positions and frames go to the ranks that own them.",
      .formula = "shard[r][k] = x[i], i the k-th position with owners[i] = r",
      .source = "tike's PR #72, as_array_multi_split",
      .sizes = spec::Sizes::scene,
      .inputs = {spec::Array::owners, spec::Array::positions, spec::Array::frames},
      .outputs = {spec::Array::shard_positions, spec::Array::shard_frames},
      .exact_on_whole_numbers = true,
  };
}

}  // namespace rankcheck::reference::redistribute
