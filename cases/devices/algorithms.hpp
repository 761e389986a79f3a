#pragma once

#include <span>
#include <string>

#include "gpu/collectives/registry.hpp"
#include "gpu/ptycho/registry.hpp"

#include "harness/backend/backend.hpp"
#include "harness/case/case.hpp"

/// The parts that all backends of this project share: the plans and the operators that they run.
namespace rankcheck::cases {

/// The algorithm that computes a case. Both pointers are null if no algorithm does. The pointers
/// refer to entries of Algorithms.
struct SelectedAlgorithm {
  const gpu::plan::Algorithm* plan = nullptr;
  const gpu::Operator* op = nullptr;
};

/// The algorithms of a backend. The spans do not own them.
struct Algorithms {
  std::span<const gpu::Implementation> plans;
  std::span<const gpu::OperatorImplementation> operators;

  [[nodiscard]] std::vector<harness::AlgorithmInfo> infos() const;
  /// Returns the algorithm that the case names. If the case names none, returns the preferred one
  /// among all algorithms that take the case.
  [[nodiscard]] SelectedAlgorithm choose(const harness::Case& c) const;
  /// Says why choose() finds no algorithm. Empty if it finds one.
  [[nodiscard]] std::string why_none(const harness::Case& c) const;
};

/// Returns the plan options that a case asks for.
[[nodiscard]] gpu::plan::Options options_of(const harness::Case& c);

}  // namespace rankcheck::cases
