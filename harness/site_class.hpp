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

/// A kind of input of one type.
struct InputOfType {
  /// The type of one component: complex numbers are two floats.
  spec::Type component = spec::Type::f32;
  InputKind kind = InputKind::general;
  /// The op; empty for any op.
  std::optional<spec::ReduceOp> op = {};

  /// Whether a case of this type and op can have such inputs.
  [[nodiscard]] bool admits(spec::Type type, spec::ReduceOp its_op) const {
    return component == spec::component(type) && (!op || *op == its_op);
  }
};

/// A class of cases that a unit has to cover, in addition to its types and ops.
struct SiteClass {
  /// What a case must have so that the class is meaningful.
  enum class Needs : std::uint8_t { nothing, data, no_data, scene, schedules };

  /// The class's name among the cells of a finding: "site/<class>", "ranks/<number>" or
  /// "input/<type>/<class>".
  std::string name;
  /// Whether a case belongs to the class.
  std::function<bool(const Case& c)> has;
  Needs needs = Needs::nothing;
  /// If above 0: the number of members in each of its cases.
  int ranks = 0;
  /// If given: the inputs of its cases.
  std::optional<InputOfType> input = {};

  /// Whether its cases have no output. Such a case covers the class if its memory contracts hold.
  [[nodiscard]] bool is_empty() const { return needs == Needs::no_data; }
};

/// The classes that an operation may have on a backend, in units with `ranks_min` … `ranks_max`
/// ranks.
[[nodiscard]] std::vector<SiteClass> site_classes(const spec::Contract& contract,
                                                  const BackendTraits& traits,
                                                  int ranks_min,
                                                  int ranks_max);

/// Prefix of the names of cells that are call sites.
inline constexpr std::string_view site_prefix = "site/";

/// Whether a cell's name is a call site's. A case without an output covers some call sites.
[[nodiscard]] constexpr bool is_site(std::string_view cell) {
  return cell.starts_with(site_prefix);
}

/// A scene is a "site/large_scene" if the object has more columns, a detector is wider (in pixels),
/// or a rank has more positions than this. The kernels of this project handle such a scene in
/// several pieces.
inline constexpr int large_cols = 128;
inline constexpr int large_detector = 32;
inline constexpr std::int64_t large_positions = 64;

/// Larger numbers of ranks have no class of their own.
inline constexpr int counted_ranks_max = 16;

}  // namespace rankcheck::harness
