#pragma once

#include <string_view>

#include "reference/collectives/all_reduce/contract.hpp"

#include "cases/families/collectives/case.hpp"

/// The case that tests give to workers which are scripts.
namespace rankcheck::harness::worker {

/// Knows all_reduce only.
inline const spec::Contract* contract_of_sum(std::string_view name) {
  static const spec::Contract contract = reference::all_reduce::contract();
  return name == contract.name ? &contract : nullptr;
}

/// An all_reduce of two elements by the algorithm `fake`.
inline Case sum_of_two() {
  Case c;
  c.operation = "all_reduce";
  c.algorithm = "fake";
  c.count = 2;
  cases::collective(c).op = spec::ReduceOp::sum;
  return c;
}

}  // namespace rankcheck::harness::worker
