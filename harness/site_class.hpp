#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/contract.hpp"

#include "harness/backend.hpp"
#include "harness/case.hpp"

namespace rankcheck::harness {

/// Inputs of one type.
struct InputOfType {
  /// Of a component: complex numbers are two floats.
  spec::Type component = spec::Type::f32;
  InputKind kind = InputKind::general;
  /// Without a value: of any op.
  std::optional<spec::ReduceOp> op = {};

  /// Whether a case of this type and op can have them.
  [[nodiscard]] bool admits(spec::Type type, spec::ReduceOp its_op) const {
    return component == spec::component(type) && (!op || *op == its_op);
  }
};

/// A class of cases that a unit has to cover beside its types and ops.
struct SiteClass {
  /// What a case must have for the class to mean anything.
  enum class Needs : std::uint8_t { nothing, data, no_data, scene, schedules };

  /// Its name among the cells of a finding: "site/<class>", "ranks/<number>" or
  /// "input/<type>/<class>".
  std::string name;
  /// Whether a case belongs to it.
  std::function<bool(const Case& c)> has;
  Needs needs = Needs::nothing;
  /// Above 0: its cases have so many members.
  int ranks = 0;
  /// Where given: its cases have these inputs.
  std::optional<InputOfType> input = {};

  /// Whether its cases have no output: what covers them is that their memory contracts hold.
  [[nodiscard]] bool is_empty() const { return needs == Needs::no_data; }
};

/// The classes that an operation may have on a backend, in units of `ranks_min` … `ranks_max`
/// ranks.
[[nodiscard]] std::vector<SiteClass> site_classes(const spec::Contract& contract,
                                                  const BackendTraits& traits,
                                                  int ranks_min,
                                                  int ranks_max);

/// What the names of such cells begin with.
inline constexpr std::string_view site_prefix = "site/";

/// Whether a cell's name is that of a way to make a call: a case without an output covers some of
/// them.
[[nodiscard]] constexpr bool is_site(std::string_view cell) {
  return cell.starts_with(site_prefix);
}

/// A scene is a "site/large_scene" with more columns of the object, more pixels along a detector or
/// more positions of a rank than this: kernels of this project take it in several pieces.
inline constexpr int large_cols = 128;
inline constexpr int large_detector = 32;
inline constexpr std::int64_t large_positions = 64;

/// Larger numbers of ranks are no classes of their own.
inline constexpr int counted_ranks_max = 16;

}  // namespace rankcheck::harness
