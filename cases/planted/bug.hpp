#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reference/spec/type.hpp"

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/plan.hpp"

#include "harness/backend.hpp"
#include "harness/case.hpp"
#include "harness/verdict.hpp"

/// Bugs that are planted on purpose, to measure what the properties catch.
namespace rankcheck::cases::planted {

class Attempt;

/// What one stage left behind, for a bug to spoil.
struct Outcome {
  std::span<const harness::Case> stages;
  std::size_t stage = 0;
  harness::Observation& observation;
  /// Runs of this backend before this one.
  std::int64_t runs = 0;
  /// What the bug keeps from run to run, until the backend is restarted.
  std::vector<harness::Image>& kept;

  [[nodiscard]] const harness::Case& c() const { return stages[stage]; }
  [[nodiscard]] std::vector<harness::Image>& images() const {
    return observation.stages[stage].images;
  }
};

/// One planted bug: an algorithm that is sound but for one mistake. One of the ways to plant it is
/// given, or an algorithm and a fault that hits it.
struct Bug {
  std::string_view name;
  /// What the programmer did wrong.
  std::string_view summary;
  /// The public defect that it is taken from; empty where it is a common mistake.
  std::string_view source = {};
  /// Whose property catches it.
  std::string_view operation;
  std::string_view algorithm;
  /// The operation with the mistake, in all its algorithms, where that is another one.
  std::string_view planted_in = {};
  /// The property that has to catch it, and the verdict that it has to come to.
  std::string_view property = "agrees_with_reference";
  harness::Verdict verdict = harness::Verdict::falsified;
  /// A part of the finding's reason or of what is said about its wrong elements.
  std::string_view says = "differs from the reference";
  /// How far its minimal case has to shrink; the elements of operators are scan positions, or rows
  /// and columns of tiles.
  int ranks_max = 3;
  std::int64_t elements_max = 4;
  /// Of the object.
  std::int64_t pixels_max = 4;

  /// The stages of the operation and algorithm that it shows in; null: all.
  bool (*hits)(const harness::Case& c) = nullptr;
  /// Changes the plan of such a stage.
  void (*edit)(const harness::Case& c, gpu::plan::Plan& plan) = nullptr;
  /// Changes what such a stage left behind.
  void (*spoil)(const Outcome& outcome) = nullptr;
  /// Changes every value of the output, whose components have this type.
  double (*map)(double value, spec::Type component) = nullptr;
  /// Makes each output of a reduction anew of the inputs to it.
  double (*fold)(const std::vector<double>& inputs) = nullptr;
  /// Makes the call of an operator that such a stage is.
  void (*attempt)(Attempt& attempt) = nullptr;
  /// A fault of the simulator that hits every such stage.
  std::string_view fault = {};
  /// The whole algorithm, where no real one has the mistake.
  void (*plan)(gpu::plan::Builder& builder) = nullptr;
};

}  // namespace rankcheck::cases::planted
