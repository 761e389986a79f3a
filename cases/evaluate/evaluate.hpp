#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/check/operation.hpp"

#include "cases/evaluate/arrays.hpp"

/// A call of an operation on a user's own inputs. README.md beside this file is the contract.
namespace rankcheck::cases::evaluate {

/// An argument NAME=PATH.
struct NamedPath {
  std::string name;
  std::string path;
};

/// Throws BadInput unless each argument is NAME=PATH with one of the names, and no name comes
/// twice. `option` is the option that the arguments belong to.
[[nodiscard]] std::vector<NamedPath> read_arguments(std::string_view option,
                                                    const std::vector<std::string>& arguments,
                                                    const std::vector<std::string>& names);

/// The names of the arrays of one side.
[[nodiscard]] std::vector<std::string> names_of(const spec::Contract& contract, Side side);

/// Reads the fields of a case that the user gave. Throws BadInput for fields that change inputs by
/// rule.
[[nodiscard]] nlohmann::ordered_json read_fields(const spec::Contract& contract,
                                                 const std::string& text);

/// Reads the arrays. If a path has `{rank}`, the fields must say how many ranks there are. Throws
/// BadInput and FileError.
[[nodiscard]] std::vector<UserArray> read_arrays(std::string_view option,
                                                 std::span<const NamedPath> arguments,
                                                 const nlohmann::ordered_json& fields);

/// Makes a case of the fields, and of the shapes and types of the inputs. It has no inputs yet.
/// Throws BadInput, also if an input is missing.
[[nodiscard]] harness::Case complete_case(const spec::Contract& contract,
                                          std::span<const UserArray> inputs,
                                          nlohmann::ordered_json fields);

/// Gives a valid case its inputs. Throws BadInput if an input has a wrong type, shape or value.
void give_inputs(const spec::Contract& contract,
                 std::span<const UserArray> inputs,
                 harness::Case& c);

/// The properties that one call can show: `agrees_with_reference`, or for an operation without it,
/// all that need one call.
[[nodiscard]] std::vector<const harness::Property*> properties_of(
    const harness::Operation& operation, const harness::Case& c);

/// A verdict on arrays that a user expects.
struct ExpectedOutcome {
  harness::Judgement judgement;
  /// The worst value of each array, by name. Empty if there is no value with a distance.
  std::vector<std::pair<std::string, std::optional<Worst>>> worst;
};

/// Calls of the reference for a case with inputs.
class ReferenceCall {
 public:
  /// Both must outlive this object.
  ReferenceCall(const harness::Catalogue& catalogue, const harness::Case& c);

  /// Passes if there are no arrays. Throws BadInput if an array has a wrong type or shape.
  [[nodiscard]] ExpectedOutcome judge(std::span<const UserArray> expected) const;

  /// Returns the outputs of the reference as the content of .npy files. The name may end with
  /// `.bound` for the bounds. A path with `{rank}` gives a file for each rank. Throws BadInput if
  /// the array needs one.
  [[nodiscard]] std::vector<std::pair<std::filesystem::path, std::string>> write(
      std::span<const NamedPath> outputs) const;

 private:
  [[nodiscard]] harness::Observation observe(std::span<const Values> outputs) const;
  [[nodiscard]] harness::Evidence evidence(const harness::Observation& observation) const {
    return {catalogue_, traits_, std::span(&case_, 1), observation};
  }

  const harness::Catalogue& catalogue_;
  const harness::Case& case_;
  const spec::Contract& contract_;
  const FamilyArrays& arrays_;
  std::vector<Slot> outputs_;
  /// A user's data follows any rule for NaN and for zeros that an implementation may declare.
  harness::BackendTraits traits_;
  std::vector<Expected> expected_;
};

}  // namespace rankcheck::cases::evaluate
