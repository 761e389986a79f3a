#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reference/spec/contract.hpp"
#include "reference/spec/type.hpp"

#include "harness/base/npy.hpp"
#include "harness/case/case.hpp"
#include "harness/check/operation.hpp"

/// The named arrays of a call: what goes into it and what comes out, as a user has them.
namespace rankcheck::cases::evaluate {

enum class Side : bool { input, output };

using Shape = std::vector<std::int64_t>;

/// A named array of a call whose sizes are known.
struct Slot {
  std::string name;
  /// The type of the array's values, which may be complex.
  spec::Type type = spec::Type::f32;
  /// The shape of the array with the parts of all ranks. Empty if it needs one file for each rank.
  std::optional<Shape> whole = {};
  /// The shape of each group rank's part. Empty for a rank that has no part. No entries if all
  /// ranks have the whole array.
  std::vector<std::optional<Shape>> parts = {};
};

/// A run of an array's values in a rank's buffer. All numbers are elements of the case's type.
struct Run {
  std::size_t slot = 0;
  /// Counted in the parts of all ranks, one behind another.
  std::int64_t first = 0;
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

/// What --describe says about an array.
struct Description {
  std::string name;
  std::string type;
  std::string shape;
};

/// An array that a user gave: one file, or one file for each group rank.
struct UserArray {
  std::string name;
  /// As the user wrote it. `{rank}` stands for the number of a rank.
  std::string path;
  /// Empty for a rank whose file does not exist.
  std::vector<std::optional<harness::NpyArray>> files = {};

  [[nodiscard]] bool by_rank() const { return path.find(rank_pattern) != path.npos; }
  /// The first file that exists.
  [[nodiscard]] const harness::NpyArray& first() const;

  static constexpr std::string_view rank_pattern = "{rank}";
};

/// The most ranks that this command takes.
inline constexpr int ranks_max = 4096;

/// The number of group ranks that the fields of a case name. Empty if they name none, or a wrong
/// number.
[[nodiscard]] std::optional<int> ranks_in(const nlohmann::ordered_json& fields);

/// The path of a rank's file.
[[nodiscard]] std::string path_of_rank(const std::string& path, int rank);

/// The values of an array, with the parts of all ranks one behind another, as their bytes.
struct Values {
  std::size_t slot = 0;
  std::vector<std::byte> bytes;
};

/// The result of the reference for one output.
struct Expected {
  /// The values. Operators have double precision, collectives have the case's type.
  spec::Type type = spec::Type::f64;
  std::vector<std::byte> bytes = {};
  /// The components in double precision, before they were rounded. Empty if the bits must agree.
  std::vector<double> components = {};
  /// For each component: how far a result may be off.
  std::vector<double> bounds = {};
  /// Whether the bound of a complex value holds for the modulus of its error. Otherwise it holds
  /// for each component.
  bool is_of_modulus = false;
};

/// The value that uses most of its bound.
struct Worst {
  /// The index in the array, for example "[0, 3]" or "rank 2 [3]".
  std::string place;
  std::string expected;
  std::string got;
  double error = 0;
  double bound = 0;
  /// error / bound. Infinite if the bound is 0 and the value is wrong, or if there is no distance.
  double ratio = 0;
};

/// What this command must know about a family of operations.
class FamilyArrays {
 public:
  virtual ~FamilyArrays() = default;

  [[nodiscard]] virtual std::vector<Description> describe(const spec::Contract& contract,
                                                          Side side) const = 0;
  /// The fields of a case that change inputs by rule, and so have no meaning here.
  [[nodiscard]] virtual std::vector<std::string_view> fields_of_rules() const = 0;
  /// Adds the fields that follow from the shapes and types of the inputs to a case's JSON. Fields
  /// that are there stay. Throws BadInput.
  virtual void complete(const spec::Contract& contract,
                        std::span<const UserArray> inputs,
                        nlohmann::ordered_json& fields) const = 0;
  /// The arrays of a valid case.
  [[nodiscard]] virtual std::vector<Slot> slots(const spec::Contract& contract,
                                                const harness::Case& c,
                                                Side side) const = 0;
  /// The runs in the buffer of a group rank.
  [[nodiscard]] virtual std::vector<Run> runs(const spec::Contract& contract,
                                              const harness::Case& c,
                                              Side side,
                                              int rank) const = 0;
  /// Throws BadInput if the inputs have values for which the reference or its bounds have no
  /// meaning. `values` are all inputs.
  virtual void require_values(const spec::Contract& contract,
                              const harness::Case& c,
                              std::span<const Slot> slots,
                              std::span<const Values> values) const = 0;
  /// What the reference expects of the outputs, in the order of the slots.
  [[nodiscard]] virtual std::vector<Expected> expect(const harness::Evidence& evidence) const = 0;
  /// Judges only the outputs that `given` names by their slots. Returns what they were compared
  /// with: the reference of a step may follow the outputs of its earlier parts.
  [[nodiscard]] virtual std::vector<Expected> judge(const harness::Evidence& evidence,
                                                    const harness::Property& property,
                                                    std::span<const std::size_t> given,
                                                    harness::Judgement& judgement) const = 0;
};

[[nodiscard]] const FamilyArrays& arrays_of_operators();
[[nodiscard]] const FamilyArrays& arrays_of_collectives();
/// What this command must know about the operation's family.
[[nodiscard]] const FamilyArrays& arrays_of(const spec::Contract& contract);

/// Puts the files of an array together. Throws BadInput if they do not have the slot's type and
/// shape. `option` is the option that gave the array.
[[nodiscard]] std::vector<std::byte> gather(std::string_view option,
                                            const Slot& slot,
                                            const UserArray& array);

/// The number of values of all parts.
[[nodiscard]] std::int64_t count_of(const Slot& slot);
[[nodiscard]] std::int64_t count_of(const Shape& shape);

/// The index of a value, counted as in Values, as text.
[[nodiscard]] std::string place_of(const Slot& slot, std::int64_t index);

}  // namespace rankcheck::cases::evaluate
