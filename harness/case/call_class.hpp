#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "harness/case/case.hpp"

namespace rankcheck::harness {

struct Cell;

/// A class of cases that a unit has to cover, in addition to its types and variants.
struct CallClass {
  /// What a case must have so that the class is meaningful.
  enum class Needs : std::uint8_t {
    nothing,
    data,
    no_data,
    schedules,
    streams,
    strides,
    /// Several hosts. The generator spreads the ranks.
    hosts,
    /// Ranks that come late.
    delays,
    /// Inputs that come late, without streams.
    arrivals,
    /// A large block. The generator enlarges the case.
    size,
  };

  /// The class's name among the cells of a finding: "site/<class>", "ranks/<number>" or
  /// "input/<type>/<class>".
  std::string name;
  /// Whether a case belongs to the class.
  std::function<bool(const Case& c)> has;
  Needs needs = Needs::nothing;
  /// If above 0: the number of members in each of its cases.
  int ranks = 0;
  /// If given: the input of its cases, and whether cases of a cell can have this input.
  std::optional<InputKind> input = {};
  std::function<bool(const Cell& cell)> admits = {};
  /// For a class of a family: the common class before which it stands. Empty: it stands last.
  std::string_view before = {};
  /// If above 0: about so many bytes are in the longest block of its cases. Only units with this
  /// size among Unit::blocks have the class.
  std::int64_t bytes = 0;
  /// The field without which no case belongs to the class. Empty: there is no such field. If a
  /// backend refuses the field, the class has no cases.
  std::string_view field = {};

  /// Whether cases of a cell can belong to the class.
  [[nodiscard]] bool may_have(const Cell& cell) const { return !admits || admits(cell); }
  /// Whether its cases have no output. Such a case covers the class if its memory contracts hold.
  [[nodiscard]] bool is_empty() const { return needs == Needs::no_data; }
};

/// Prefix of the names of cells that are call sites.
inline constexpr std::string_view site_prefix = "site/";

/// Whether a cell's name is a call site's. A case without an output covers some call sites.
[[nodiscard]] constexpr bool is_site(std::string_view cell) {
  return cell.starts_with(site_prefix);
}

/// The size of the case's largest part.
[[nodiscard]] std::int64_t longest(const Case& c);

/// The class "input/<component>/<name>" of cases with this input, several members and a part of at
/// least `length_min` elements.
[[nodiscard]] CallClass with_input(std::string_view component,
                                   std::string_view name,
                                   InputKind input,
                                   std::int64_t length_min,
                                   std::function<bool(const Cell& cell)> admits,
                                   std::function<bool(const Case& c)> has);

/// Larger numbers of ranks have no class of their own.
inline constexpr int counted_ranks_max = 16;

}  // namespace rankcheck::harness
