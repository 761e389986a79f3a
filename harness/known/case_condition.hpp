#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case/case.hpp"

namespace rankcheck::harness {

class Family;

/// A condition on one value in JSON.
class ValueCondition {
 public:
  /// Reads a condition:
  /// - a value, or a list of values: the value is one of these;
  /// - {"min": a, "max": b}, or only one of them: a number in this range, its ends included;
  /// - {"not": condition};
  /// - {"any": condition}, {"each": condition}: on the elements of a list. Neither holds for an
  ///   empty list;
  /// - {"length": condition}: on the number of elements of a list.
  /// Throws BadInput.
  explicit ValueCondition(const nlohmann::json& json);

  [[nodiscard]] bool holds(const nlohmann::ordered_json& value) const;

  /// Throws BadInput if no value of a field can ever be compared with the condition, because the
  /// field has another type. `example` is any value of the field. `require_value` throws BadInput
  /// if it gets what is no value of the field.
  void require_type(const nlohmann::ordered_json& example,
                    const std::function<void(const nlohmann::json&)>& require_value) const;

 private:
  enum class Kind : std::uint8_t { values, range, negated, any, each, length };

  Kind kind_ = Kind::values;
  std::vector<nlohmann::json> values_;
  std::optional<double> min_;
  std::optional<double> max_;
  std::shared_ptr<const ValueCondition> inner_;
};

/// A condition on one field of a case. `members` is the number of the group's members, and all
/// other names are those of a case's JSON. `group` has the members also if the case does not list
/// them.
struct CaseCondition {
  std::string field;
  ValueCondition value;

  /// Whether the condition holds for a case of an operation of this family, which may be null. It
  /// does not if the family has no such field.
  [[nodiscard]] bool holds(const Case& c, const Family* family) const;
};

/// Throws BadInput if cases of the family do not have the field, or if it has other values than
/// those of the condition.
void require_sense(const CaseCondition& condition, const Family* family);

}  // namespace rankcheck::harness
