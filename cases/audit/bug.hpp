#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reference/spec/scene.hpp"
#include "reference/spec/type.hpp"

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/plan.hpp"

#include "harness/backend/backend.hpp"
#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"

#include "cases/audit/wrong_cluster.hpp"

/// Bugs that are planted on purpose, to measure which ones the properties catch.
namespace rankcheck::cases::audit {

class InterceptedCall;

/// The result of one stage, which a bug may change.
struct Outcome {
  std::span<const harness::Case> stages;
  std::size_t stage = 0;
  harness::Observation& observation;
  /// Number of runs of this backend before this one.
  std::int64_t runs = 0;
  /// Images that the bug keeps from run to run. A restart of the backend clears them.
  std::vector<harness::Image>& kept;

  [[nodiscard]] const harness::Case& c() const { return stages[stage]; }
  [[nodiscard]] std::vector<harness::Image>& images() const {
    return observation.stages[stage].images;
  }
};

/// The call that a bug is looked for in.
struct Target {
  std::string_view operation;
  std::string_view algorithm;
};

/// How a bug must be found: by which property of the target, and with which verdict.
struct FoundBy {
  std::string_view property = "agrees_with_reference";
  /// This text must occur in the finding's reason or in the description of its wrong elements.
  std::string_view says = "differs from the reference";
  harness::Verdict verdict = harness::Verdict::falsified;
};

/// Changes an array of an operator's call on each rank.
struct EditArray {
  spec::Array array = spec::Array::none;
  void (*edit)(const InterceptedCall& intercepted, Values& values, int rank) = nullptr;
};

/// Changes the result of one of the collective sums that an operator makes.
struct EditSum {
  /// Counted from 0 in the order of the calls.
  int number = 0;
  void (*edit)(const InterceptedCall& intercepted, const CollectiveCall& call) = nullptr;
};

/// Changes the steps of a plan that `chosen` selects, and their sources.
struct EditSteps {
  bool (*chosen)(int rank, const gpu::plan::Step& step) = nullptr;
  void (*edit)(const harness::Case& c,
               gpu::plan::Step& step,
               std::span<gpu::plan::Range> sources) = nullptr;
};

/// One planted bug: an algorithm that is correct except for one mistake. It sets one of the ways to
/// plant the mistake, or an algorithm (`plan`) together with a fault that hits it.
struct Bug {
  std::string_view name;
  /// The programmer's mistake.
  std::string_view summary;
  /// The public defect that the bug is taken from. Empty if it is a common mistake.
  std::string_view source = {};
  Target target;
  /// The operation that contains the mistake, in all its algorithms. Empty: the mistake is in
  /// `target`.
  std::string_view planted_in = {};
  FoundBy found_by = {};
  /// Upper limits for the size of the minimal case after shrinking. For operators, elements are
  /// scan positions, or rows and columns of tiles.
  int ranks_max = 3;
  std::int64_t elements_max = 4;
  /// How many cases may be tried at least: a bug of rare cases needs more than the others.
  int cases_min = 0;
  /// If above 0: the bug needs this count of `type` on `ranks_max` ranks, which is too large to be
  /// drawn. An entry of a suite has it.
  std::int64_t count = 0;
  spec::Type type = spec::Type::int8;
  /// Upper limit for the pixels of the object (rows times columns) in the minimal case.
  std::int64_t pixels_max = 4;

  /// Fields of a case that the bug needs, as a JSON object with the values that switch them off,
  /// for example {"repeat":1}. With these values, nothing may find the bug. Empty: the bug needs
  /// none.
  std::string_view without = {};

  /// Selects the stages of the operation and algorithm in which the bug appears. Null: all of them.
  bool (*hits)(const harness::Case& c) = nullptr;
  /// Changes the plan of a selected stage.
  void (*edit_plan)(const harness::Case& c, gpu::plan::Plan& plan) = nullptr;
  EditSteps edit_steps = {};
  /// Changes a selected stage into the case whose plan is built instead.
  void (*edit_case)(harness::Case& other) = nullptr;
  /// Changes the plan of calls that several groups make at the same time. The groups' ranks are one
  /// behind another in the plan.
  void (*edit_groups)(std::span<const harness::Case> stages, gpu::plan::Plan& merged) = nullptr;
  /// Changes the plan of repeated calls that are in flight at the same time. The calls are one
  /// behind another in the plan, like groups.
  void (*edit_calls)(std::span<const harness::Case> stages, gpu::plan::Plan& merged) = nullptr;
  /// Changes the plan of a history, if its last call is selected. The calls are one behind another
  /// in the plan, like groups.
  void (*edit_history)(std::span<const harness::Case> stages, gpu::plan::Plan& merged) = nullptr;
  /// Changes the result of a selected stage.
  void (*edit_result)(const Outcome& outcome) = nullptr;
  /// Changes every element of the output. `index` is its place in recv.
  void (*edit_element)(const Outcome& outcome,
                       int rank,
                       std::int64_t index,
                       std::byte* element) = nullptr;
  /// Selects the elements of the output that keep what they held before the call.
  bool (*unwritten)(const Outcome& outcome, int rank, std::int64_t index) = nullptr;
  /// Changes every value of the output. `component` is the type of the output's components.
  double (*map)(double value, spec::Type component) = nullptr;
  /// Computes each output of a reduction again from its inputs.
  double (*fold)(const std::vector<double>& inputs) = nullptr;
  /// Makes the operator call of a selected stage.
  void (*replace_call)(InterceptedCall& intercepted) = nullptr;
  /// Change this call: the scene or an input before it, its transforms, its collectives, or an
  /// output after it.
  void (*edit_scene)(spec::Scene& scene) = nullptr;
  EditArray edit_input = {};
  void (*make_transform)(const InterceptedCall& intercepted, TransformCall& call) = nullptr;
  void (*make_collective)(const InterceptedCall& intercepted, CollectiveCall& call) = nullptr;
  EditSum edit_sum = {};
  EditArray edit_output = {};
  /// A fault of the simulator that hits every selected stage.
  std::string_view fault = {};
  /// The whole algorithm, for a mistake that no real algorithm has.
  void (*plan)(gpu::plan::Builder& builder) = nullptr;
};

}  // namespace rankcheck::cases::audit
