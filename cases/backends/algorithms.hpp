#pragma once

#include <span>
#include <string>

#include "gpu/collectives/registry.hpp"
#include "gpu/ptycho/registry.hpp"

#include "harness/backend.hpp"
#include "harness/case.hpp"

/// What the backends of this project have in common: the plans and the operators that they run.
namespace rankcheck::cases {

/// What computes a case; both null where nothing does.
struct Choice {
  const gpu::plan::Algorithm* plan = nullptr;
  const gpu::Operator* op = nullptr;
};

/// The algorithms that a backend has.
struct Algorithms {
  std::span<const gpu::Implementation> plans;
  std::span<const gpu::OperatorImplementation> operators;

  [[nodiscard]] std::vector<harness::AlgorithmInfo> infos() const;
  /// The algorithm that the case names or, where it names none, prefers of those that take it.
  [[nodiscard]] Choice choose(const harness::Case& c) const;
  /// Why there is no choice, in words; empty where there is one.
  [[nodiscard]] std::string why_none(const harness::Case& c) const;
};

/// The options of the plan that a case asks for.
[[nodiscard]] gpu::plan::Options options_of(const harness::Case& c);

}  // namespace rankcheck::cases
