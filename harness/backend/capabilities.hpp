#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case/case.hpp"

namespace rankcheck::harness {

/// The cases that an algorithm of a backend takes, as the backend declared them. Cases are drawn
/// inside these limits.
///
/// A declaration is a JSON object whose keys are fields of a case. A field that is not named only
/// has its default, so that a worker never gets a field that it does not know. These are always
/// taken: the names of the operation, property, backend and algorithm, the number of ranks, counts
/// and the seed. So are the fields that only shape inputs, if the harness sends the inputs.
class Capabilities {
 public:
  enum class Groups : std::uint8_t { any, sorted, world };

  /// Reads a declaration, for example {"type":["f32","f64"],"op":"any","ranks":{"max":4},
  /// "group":"sorted","empty":false}. The value of a field is "any" or a list of values. Three keys
  /// differ: `ranks` has the least and the largest number of a group's members as `min` and `max`;
  /// `group` is "any", "sorted" (ascending ranks) or "world", the default; `empty` says whether
  /// counts may be zero, which is the default. Throws BadInput that names the field.
  Capabilities(const std::string& operation, bool are_inputs_sent, const nlohmann::json& declared);

  /// Why a case is not taken, in words that name the field. Empty if it is taken.
  [[nodiscard]] std::string why_refused(const Case& c) const;

  /// The declaration as the backend made it.
  [[nodiscard]] const nlohmann::json& declared() const { return declared_; }

  [[nodiscard]] int ranks_min() const { return ranks_min_; }
  [[nodiscard]] int ranks_max() const { return ranks_max_; }

  /// Changes the fields that are not taken, each to a value that is. The choice among several
  /// values follows from the case.
  void fit(Case& c) const;

 private:
  /// The values that a field may have.
  struct Rule {
    std::vector<nlohmann::json> values;
    /// Whether the field may be left out of the JSON, which means that it has its default.
    bool takes_default = false;
  };
  void read_rule(std::string_view operation,
                 const std::string& field,
                 const nlohmann::json& declared);
  [[nodiscard]] std::string why_field_refused(const std::string& field,
                                              const nlohmann::json& value) const;
  [[nodiscard]] std::string why_group_refused(const Case& c) const;

  nlohmann::json declared_;
  std::map<std::string, Rule, std::less<>> rules_;
  /// A case of the operation without any choice.
  nlohmann::json defaults_;
  /// The fields that may have any value.
  std::vector<std::string> free_;
  /// Whether inputs that nobody draws are taken, whatever kinds are declared.
  bool takes_undrawn_ = false;
  Groups groups_ = Groups::world;
  bool takes_empty_ = true;
  int ranks_min_ = 1;
  int ranks_max_ = std::numeric_limits<int>::max();
};

}  // namespace rankcheck::harness
