#include "cases/families/ptycho/family.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/numerics/fold.hpp"
#include "reference/registry.hpp"
#include "reference/spec/reduce_op.hpp"
#include "reference/spec/share.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/draw.hpp"
#include "cases/families/ptycho/inputs.hpp"
#include "cases/families/ptycho/shapes.hpp"
#include "cases/families/ptycho/symmetry.hpp"

namespace rankcheck::cases {

namespace {

using harness::CallClass;
using harness::Case;
using harness::Cell;
using harness::InputKind;

/// Positions that are moved by at most this many pixels are still exact in single precision.
constexpr int pixels_moved_max = 4096;

/// Added inputs that are halved this often still change the other inputs in double precision.
constexpr int halvings_max = 32;

class Ptycho final : public harness::Family {
 public:
  [[nodiscard]] std::string_view name() const override { return PtychoCase::family; }

  [[nodiscard]] const spec::Contract* find(std::string_view operation) const override {
    const spec::Contract* const found = reference::find_contract(operation);
    return found != nullptr && spec::family(*found) == name() ? found : nullptr;
  }

  [[nodiscard]] std::span<const harness::FamilyField> fields() const override {
    return ptycho_fields();
  }

  [[nodiscard]] std::vector<Cell> cells(const spec::Contract& contract) const override {
    std::vector<Cell> all;
    for (const spec::Type type : {spec::Type::f32, spec::Type::f64}) {
      Cell& cell = all.emplace_back();
      cell.type = type;
      cell.variant_name = spec::name(spec::ReduceOp::none);
      for (const InputKind kind : {InputKind::general,
                                   InputKind::fine,
                                   InputKind::exact,
                                   InputKind::special,
                                   InputKind::wide_range}) {
        // For other types, fine is the same as general.
        if (kind == InputKind::fine && type != spec::Type::f64) continue;
        if (is_defined(kind, contract)) cell.kinds.push_back(kind);
      }
    }
    return all;
  }

  [[nodiscard]] std::vector<CallClass> call_classes(const spec::Contract& contract) const override {
    std::vector<CallClass> all;
    if (!ptycho(contract).tiled) {
      const std::array<bool (*)(const Case&), 3> has{
          [](const Case& c) { return ptycho(c).scene.cols > large_cols; },
          [](const Case& c) { return ptycho(c).scene.detector > large_detector; },
          [](const Case& c) { return harness::longest(c) > large_positions; }};
      for (std::size_t k = 0; k < has.size(); ++k) {
        all.push_back({.name = std::string(large_scenes[k]), .has = has[k], .before = "in_order"});
      }
    }
    // All other inputs are numbers of single precision.
    const auto is_double = [](const auto& each) { return each.type == spec::Type::f64; };
    all.push_back(harness::with_input(
        spec::name(spec::Type::f64), "wide", InputKind::fine, 1, is_double, is_double));
    return all;
  }

  void draw(const spec::Contract& contract,
            const harness::Drawing& drawing,
            Case& out) const override {
    draw_operator(contract, drawing, out);
  }

  [[nodiscard]] std::string why_invalid(const spec::Contract& contract,
                                        const Case& c) const override {
    if (auto why = spec::why_invalid(contract, operator_call(c))) return *why;
    if (c.count != 0) return "count: not a size of this operation";
    const PtychoCase& own = ptycho(c);
    if (!is_defined(c.input, contract)) {
      return "input: " + std::string(harness::name(c.input)) + " is not defined for " +
             std::string(contract.name);
    }
    const bool combined = c.scale != 1 || c.added_seed != 0;
    if (combined && c.input != InputKind::exact && own.varied == spec::Array::none) {
      return "scale, added_seed: expected input exact";
    }
    if (own.moved < -pixels_moved_max || own.moved > pixels_moved_max) {
      return fmt::format(
          "moved: got {}, expected at most {} either way", own.moved, pixels_moved_max);
    }
    if (own.halvings < 0 || own.halvings > halvings_max) {
      return fmt::format("halvings: got {}, expected 0..{}", own.halvings, halvings_max);
    }
    if (std::string why = cases::why_invalid(own.symmetry, own.scene); !why.empty()) return why;
    if (c.rotate != 0) return "rotate: the inputs of operators do not depend on ranks";
    return {};
  }

  void fill_extents(const spec::Contract& contract,
                    const Case& c,
                    int rank,
                    spec::Extents& extents) const override {
    spec::fill_extents(contract, operator_call(c), rank, extents);
  }

  void fill(const Case& c, int, int, const spec::Block& block, std::byte* out) const override {
    fill_array(c, block, out);
  }

  [[nodiscard]] nlohmann::ordered_json describe_block(const Case& c,
                                                      int rank,
                                                      const spec::Block& block) const override {
    const spec::ArrayInfo& array = spec::info(block.array);
    const std::int64_t values = block.count / (array.is_complex ? 2 : 1);
    const bool is_double = c.type == spec::Type::f64;
    const spec::Type complex = is_double ? spec::Type::complex128 : spec::Type::complex64;
    std::vector<std::int64_t> shape = shape_of(ptycho(c).scene, block.array, values);
    if (block.array == spec::Array::tile) {
      const spec::Box held = spec::held_by(ptycho(c).scene, c.counts, rank);
      shape = {held.rows, held.cols};
    }
    // Single numbers are arrays of one element, so that results can be written to them.
    if (shape.empty()) shape = {values};
    return {{"name", array.name},
            {"shape", shape},
            {"type", spec::name(array.is_complex ? complex : c.type)}};
  }

  [[nodiscard]] std::string text_of(spec::Type type, const std::byte* element) const override {
    return numerics::to_text(type, element);
  }

  /// Poison is NaN, because operators multiply what they read, also by 0. Only NaN survives this.
  [[nodiscard]] std::uint64_t poison_bits(const Case& c) const override {
    return c.type == spec::Type::f64 ? 0x7ff8000000000000U : 0x7fc000007fc00000U;
  }

  [[nodiscard]] bool is_chained(const Case& c) const override { return ptycho(c).chained; }

  [[nodiscard]] bool is_taken_from(const spec::Block& to, const spec::Block& from) const override {
    return spec::is_taken_from(to.array, from.array);
  }

  /// Replicated outputs must be the same on every rank, even without ranks_agree.
  [[nodiscard]] bool is_common(const spec::Contract&,
                               const Case& c,
                               const spec::Block& block) const override {
    return spec::is_replicated(ptycho(c).scene, block.array);
  }
};

}  // namespace

spec::OperatorCall operator_call(const Case& c) {
  return {
      .ranks = harness::group_size(c),
      .type = c.type,
      .counts = c.counts,
      .scene = ptycho(c).scene,
  };
}

const harness::Family& ptycho_family() {
  static const Ptycho family;
  return family;
}

}  // namespace rankcheck::cases
