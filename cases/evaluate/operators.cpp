#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/numerics/fold.hpp"
#include "reference/spec/share.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/properties/nearly_equal.hpp"

#include "cases/evaluate/arrays.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/shapes.hpp"
#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases::evaluate {

namespace {

using harness::BadInput;
using harness::Case;
using nlohmann::ordered_json;
using spec::Array;
using spec::Share;

/// How far a position may be from the object in operators that take windows of no object.
constexpr double shift_max = 4096;

const std::vector<Array>& arrays_of_side(const spec::Contract& contract, Side side) {
  return side == Side::input ? ptycho(contract).inputs : ptycho(contract).outputs;
}

bool has(const std::vector<Array>& arrays, Array array) {
  return std::find(arrays.begin(), arrays.end(), array) != arrays.end();
}

spec::Type type_of_values(Array array, spec::Type type) {
  if (!spec::info(array).is_complex) return type;
  return type == spec::Type::f64 ? spec::Type::complex128 : spec::Type::complex64;
}

/// The names of an array's dimensions. `is_part` says whether the array is one rank's part.
std::vector<std::string> dimension_names(Array array, bool has_copies, bool is_part) {
  std::vector<std::string> names;
  if (array == Array::tile) return {"rows", "columns"};
  if (spec::info(array).share == Share::shard && !is_part) names.emplace_back("ranks");
  if (has_copies || spec::info(array).share != Share::of_scene) names.emplace_back("positions");
  for (const Dimension& each : dimensions_of({}, array)) {
    names.push_back(each.field.empty() ? std::to_string(each.length) : std::string(each.field));
  }
  return names;
}

/// Sizes that the shapes of inputs tell.
class Sizes {
 public:
  explicit Sizes(ordered_json& fields) : fields_(fields) {}

  /// Reads the shape of the file, or of all files, of an input.
  void read(Array array, const UserArray& user) {
    if (array == Array::tile) return;
    const Shape& shape = user.first().shape();
    bool has_copies = spec::info(array).per_position;
    if (array == Array::probe && shape.size() == 4) has_copies = true;
    const bool is_part = user.by_rank();
    std::vector<std::string> names = dimension_names(array, has_copies, is_part);
    const bool may_omit = !names.empty() && (names[0] == "slices" || names[0] == "modes");
    if (may_omit && shape.size() + 1 == names.size()) names.erase(names.begin());
    if (shape.size() != names.size()) {
      throw BadInput(fmt::format("--input {}: {}: got shape {}, expected shape ({})",
                                 user.name,
                                 user.path,
                                 harness::shortened(harness::shape_text(shape), 60),
                                 fmt::join(names, ", ")));
    }
    if (array == Array::probe && has_copies) set("varying_probe", true);
    for (std::size_t d = 0; d < names.size(); ++d) {
      if (names[d] == "positions") {
        count_positions(user, d, is_part && has_copies);
      } else if (names[d] != "2" && names[d] != "ranks") {
        set(names[d], shape[d]);
      }
    }
  }

  /// Adds what the inputs did not tell.
  void conclude(const spec::Contract& contract) {
    const auto ranks = spec::to_size(ranks_in(fields_).value_or(1));
    if (!ptycho(contract).tiled && !fields_.contains("counts")) {
      if (counts_.empty()) {
        for (std::size_t r = 0; r < ranks; ++r) {
          counts_.push_back(harness::nearly_equal_count(positions_, ranks, r));
        }
      }
      fields_["counts"] = counts_;
    }
    if (fields_.contains("detector")) set("window", fields_["detector"]);
    if (fields_.contains("window")) set("detector", fields_["window"]);
    // Without an object, its size has no meaning, but every scene has one.
    const auto needs_object = [](Array array) {
      const std::vector<std::string> names = dimension_names(array, false, true);
      return array == Array::positions ||
             std::find(names.begin(), names.end(), "rows") != names.end();
    };
    std::vector<Array> arrays = ptycho(contract).inputs;
    const std::vector<Array>& outputs = ptycho(contract).outputs;
    arrays.insert(arrays.end(), outputs.begin(), outputs.end());
    const bool has_object = std::any_of(arrays.begin(), arrays.end(), needs_object);
    if (has_object || !fields_.contains("window")) return;
    set("rows", fields_["window"]);
    set("cols", fields_["window"]);
  }

 private:
  template <class Value>
  void set(const std::string& field, const Value& value) {
    if (!fields_.contains(field)) fields_[field] = value;
  }

  void count_positions(const UserArray& user, std::size_t dimension, bool are_parts) {
    positions_ = user.first().shape()[dimension];
    if (!are_parts || !counts_.empty()) return;
    for (const auto& file : user.files) {
      counts_.push_back(file && dimension < file->shape().size() ? file->shape()[dimension] : 0);
    }
  }

  ordered_json& fields_;
  std::int64_t positions_ = 0;
  /// The positions of each rank, if an input has a file for each rank.
  std::vector<std::int64_t> counts_;
};

/// Reads values as numbers of double precision.
std::vector<double> numbers_of(spec::Type type, const std::vector<std::byte>& bytes) {
  const spec::Type component = spec::component(type);
  const auto size = spec::to_size(spec::info(component).bytes);
  std::vector<double> numbers(bytes.size() / size);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = numerics::to_double(component, bytes.data() + i * size);
  }
  return numbers;
}

/// The ranges of inputs for which the reference and its bounds have a meaning.
class ValueRules {
 public:
  ValueRules(const spec::Contract& contract,
             const Case& c,
             std::span<const Slot> slots,
             std::span<const Values> values)
      : contract_(contract),
        scene_(ptycho(c).scene),
        most_(c.type == spec::Type::f64 ? 1e150 : 1e18),
        ranks_(harness::group_size(c)),
        slots_(slots) {
    for (const Values& each : values) {
      numbers_.push_back(numbers_of(slots[each.slot].type, each.bytes));
    }
  }

  void require() const {
    const std::vector<Array>& inputs = ptycho(contract_).inputs;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      for (std::size_t i = 0; i < numbers_[k].size(); ++i) {
        if (inputs[k] == Array::frames && !is_measured(i)) continue;
        require(inputs[k], k, i);
      }
    }
  }

 private:
  /// Whether the mask, if there is one, has the pixel of a frame.
  [[nodiscard]] bool is_measured(std::size_t i) const {
    const std::vector<Array>& inputs = ptycho(contract_).inputs;
    const auto mask = std::find(inputs.begin(), inputs.end(), Array::mask);
    if (mask == inputs.end()) return true;
    const std::vector<double>& pixels = numbers_[spec::to_size(mask - inputs.begin())];
    return pixels[i % pixels.size()] != 0;
  }

  void require(Array array, std::size_t k, std::size_t i) const {
    const double value = numbers_[k][i];
    if (!std::isfinite(value)) return fail(k, i, "a finite number");
    const bool is_factor =
        array != Array::positions && array != Array::mask && array != Array::owners;
    const double size_of_value = std::abs(value);
    if (is_factor && value != 0 && !(size_of_value >= 1 / most_ && size_of_value <= most_)) {
      return fail(k, i, fmt::format("0 or a magnitude in {:.1g}..{:.1g}", 1 / most_, most_));
    }
    const bool has_mask = has(ptycho(contract_).inputs, Array::mask);
    if (array == Array::mask && value != 0 && value != 1) return fail(k, i, "0 or 1");
    if (array == Array::frames && has_mask && value < 0) return fail(k, i, "0 or more");
    if (array == Array::owners && !(value >= 0 && value < ranks_ && value == std::floor(value))) {
      return fail(k, i, fmt::format("a rank in 0..{}", ranks_ - 1));
    }
    if (array != Array::positions) return;
    // A window may hang over the edge of the object, or miss the object by one pixel.
    const double size = i % 2 == 0 ? scene_.rows : scene_.cols;
    const double beyond = takes_windows() ? scene_.window + 1.0 : shift_max;
    const double most = takes_windows() ? size + 1 : size + shift_max;
    if (value < -beyond || value > most) {
      fail(k, i, fmt::format("{} to {}, so that the window is near the object", -beyond, most));
    }
  }

  [[nodiscard]] bool takes_windows() const {
    const auto& inputs = ptycho(contract_).inputs;
    const auto& outputs = ptycho(contract_).outputs;
    return has(inputs, Array::object) || has(outputs, Array::object) ||
           has(outputs, Array::object_weight);
  }

  void fail(std::size_t k, std::size_t i, std::string_view expected) const {
    const std::size_t components = spec::is_complex(slots_[k].type) ? 2 : 1;
    throw BadInput(fmt::format("--input {}: value {}: got {:.9g}, expected {}",
                               slots_[k].name,
                               place_of(slots_[k], static_cast<std::int64_t>(i / components)),
                               numbers_[k][i],
                               expected));
  }

  const spec::Contract& contract_;
  const spec::Scene& scene_;
  /// The largest magnitude. The bounds take no account of overflow and underflow, so a product of
  /// two values must be a normal number.
  double most_;
  int ranks_;
  std::span<const Slot> slots_;
  std::vector<std::vector<double>> numbers_;
};

Slot slot_of(const Case& c, Array array) {
  const spec::Scene& scene = ptycho(c).scene;
  const int ranks = harness::group_size(c);
  Slot slot{.name = std::string(spec::name(array)), .type = type_of_values(array, c.type)};
  if (array == Array::tile) {
    for (int r = 0; r < ranks; ++r) {
      const spec::Box box = spec::held_by(scene, c.counts, r);
      slot.parts.emplace_back(Shape{box.rows, box.cols});
    }
    return slot;
  }
  Shape copy;
  for (const Dimension& each : dimensions_of(scene, array)) copy.push_back(each.length);
  const auto several = [&](std::int64_t copies) {
    Shape shape = copy;
    shape.insert(shape.begin(), copies);
    return shape;
  };
  const std::int64_t positions = std::accumulate(c.counts.begin(), c.counts.end(), std::int64_t{0});
  if (spec::info(array).share == Share::shard) {
    slot.whole = several(positions);
    slot.whole->insert(slot.whole->begin(), ranks);
    slot.parts.assign(spec::to_size(ranks), several(positions));
  } else if (spec::is_per_position(scene, array)) {
    slot.whole = several(positions);
    for (const std::int64_t count : c.counts) slot.parts.emplace_back(several(count));
  } else {
    slot.whole = spec::info(array).share == Share::all_positions ? several(positions) : copy;
  }
  return slot;
}

std::vector<Expected> expected_of(const OperatorStage& stage) {
  std::vector<Expected> all;
  for (const Array array : ptycho(stage.contract).outputs) {
    const reference::BoundedArray& bounded = stage.expected[array];
    Expected expected{.type = type_of_values(array, spec::Type::f64), .is_of_modulus = true};
    std::vector<double>& numbers = expected.components;
    for (std::size_t i = 0; i < bounded.values.size(); ++i) {
      numbers.push_back(bounded.values[i].real());
      if (spec::info(array).is_complex) numbers.push_back(bounded.values[i].imag());
      expected.bounds.resize(numbers.size(), bounded.errors[i]);
    }
    const std::span<const std::byte> bytes = std::as_bytes(std::span(numbers));
    expected.bytes.assign(bytes.begin(), bytes.end());
    all.push_back(std::move(expected));
  }
  return all;
}

class OperatorArrays final : public FamilyArrays {
 public:
  [[nodiscard]] std::vector<Description> describe(const spec::Contract& contract,
                                                  Side side) const override {
    std::vector<Description> all;
    for (const Array array : arrays_of_side(contract, side)) {
      const auto names = dimension_names(array, spec::info(array).per_position, false);
      std::string shape = fmt::format("({})", fmt::join(names, ", "));
      if (array == Array::tile) shape += ", what each rank holds: a file for each rank";
      if (array == Array::probe && !ptycho(contract).shares_probe) {
        shape += ", or with one for each position: (positions, modes, window, window)";
      }
      all.push_back(
          {.name = std::string(spec::name(array)),
           .type = spec::info(array).is_complex ? "complex64 or complex128" : "f32 or f64",
           .shape = std::move(shape)});
    }
    return all;
  }

  [[nodiscard]] std::vector<std::string_view> fields_of_rules() const override {
    return {"scan", "moved", "varied", "halvings", "form", "chained"};
  }

  void complete(const spec::Contract& contract,
                std::span<const UserArray> inputs,
                ordered_json& fields) const override {
    if (!fields.contains("ranks")) fields["ranks"] = 1;
    Sizes sizes(fields);
    for (const UserArray& each : inputs) {
      const std::string& description = each.first().description();
      if (!fields.contains("type") && (description == "<f8" || description == "<c16")) {
        fields["type"] = spec::name(spec::Type::f64);
      }
    }
    for (const Array array : ptycho(contract).inputs) {
      const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const UserArray& each) {
        return each.name == spec::name(array);
      });
      if (found != inputs.end()) sizes.read(array, *found);
    }
    sizes.conclude(contract);
  }

  [[nodiscard]] std::vector<Slot> slots(const spec::Contract& contract,
                                        const Case& c,
                                        Side side) const override {
    std::vector<Slot> all;
    for (const Array array : arrays_of_side(contract, side)) all.push_back(slot_of(c, array));
    return all;
  }

  [[nodiscard]] std::vector<Run> runs(const spec::Contract& contract,
                                      const Case& c,
                                      Side side,
                                      int rank) const override {
    const spec::Extents extents = spec::extents_of(contract, operator_call(c), rank);
    std::vector<Run> all;
    for (const spec::Block& block : side == Side::input ? extents.send : extents.recv) {
      all.push_back(
          {.slot = all.size(), .first = block.first, .offset = block.offset, .count = block.count});
    }
    return all;
  }

  void require_values(const spec::Contract& contract,
                      const Case& c,
                      std::span<const Slot> slots,
                      std::span<const Values> values) const override {
    ValueRules(contract, c, slots, values).require();
  }

  [[nodiscard]] std::vector<Expected> expect(const harness::Evidence& evidence) const override {
    return expected_of(read_stage(evidence, 0));
  }

  [[nodiscard]] std::vector<Expected> judge(const harness::Evidence& evidence,
                                            const harness::Property& property,
                                            std::span<const std::size_t> given,
                                            harness::Judgement& judgement) const override {
    OperatorStage stage = read_stage(evidence, 0);
    if (property.name != default_property) {
      property.check(evidence, judgement);
      return expected_of(stage);
    }
    const std::vector<Array>& outputs = ptycho(stage.contract).outputs;
    std::array<bool, spec::array_kinds> is_given{};
    for (const std::size_t slot : given) is_given.at(spec::to_size(outputs[slot])) = true;
    // What was not given is right, so that the reference can follow it.
    for (const Array array : outputs) {
      if (!is_given.at(spec::to_size(array))) stage.got[array] = stage.expected[array];
    }
    expect_again(stage, reference::Follow::results);
    compare_outputs(stage,
                    "differs from the reference",
                    judgement,
                    [&](Array array, std::size_t i) -> std::optional<ExpectedValue> {
                      if (!is_given.at(spec::to_size(array))) return std::nullopt;
                      const reference::BoundedArray& expected = stage.expected[array];
                      return ExpectedValue{expected.values[i], expected.errors[i]};
                    });
    return expected_of(stage);
  }

 private:
  static constexpr std::string_view default_property = "agrees_with_reference";
};

}  // namespace

const FamilyArrays& arrays_of_operators() {
  static const OperatorArrays arrays;
  return arrays;
}

}  // namespace rankcheck::cases::evaluate
