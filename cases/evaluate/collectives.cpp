#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"

#include "cases/collectives/oracle.hpp"
#include "cases/evaluate/arrays.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

namespace rankcheck::cases::evaluate {

namespace {

using harness::BadInput;
using harness::Case;
using nlohmann::ordered_json;

const std::vector<spec::Block>& blocks_of(const spec::Extents& extents, Side side) {
  return side == Side::input ? extents.send : extents.recv;
}

std::int64_t elements_of(const std::vector<spec::Block>& blocks) {
  return std::accumulate(
      blocks.begin(), blocks.end(), std::int64_t{0}, [](std::int64_t sum, const auto& block) {
        return sum + block.count;
      });
}

/// The elements of each group rank's buffer. Empty for a rank whose buffer the call leaves alone.
std::vector<std::optional<Shape>> parts_of(const spec::Contract& contract,
                                           const spec::Call& call,
                                           Side side) {
  std::vector<std::optional<Shape>> parts;
  for (int r = 0; r < call.ranks; ++r) {
    const spec::Extents extents = spec::extents_of(contract, call, r);
    const std::vector<spec::Block>& blocks = blocks_of(extents, side);
    auto& part = parts.emplace_back();
    if (!blocks.empty()) part = Shape{elements_of(blocks)};
  }
  return parts;
}

/// The shape of all parts together, if they are equal.
std::optional<Shape> whole_of(const std::vector<std::optional<Shape>>& parts) {
  Shape whole{0, 0};
  for (const std::optional<Shape>& part : parts) {
    if (!part) continue;
    if (whole[0] > 0 && whole[1] != part->front()) return std::nullopt;
    ++whole[0];
    whole[1] = part->front();
  }
  return whole;
}

/// The number of elements of a buffer in words, for --describe.
std::string elements_in_words(const spec::Contract& contract, Side side) {
  const spec::CollectiveTraits& traits = collective(contract);
  if (traits.sizes != spec::Sizes::count) return "its elements, as the case's counts say";
  spec::Call call{.ranks = 3, .count = 1};
  if (traits.reduces) call.op = spec::ReduceOp::sum;
  std::int64_t most = 0;
  for (const auto& part : parts_of(contract, call, side)) {
    most = std::max(most, part ? part->front() : 0);
  }
  return most == call.ranks ? "ranks * count" : "count";
}

class CollectiveArrays final : public FamilyArrays {
 public:
  [[nodiscard]] std::vector<Description> describe(const spec::Contract& contract,
                                                  Side side) const override {
    const spec::CollectiveTraits& traits = collective(contract);
    if (traits.sizes == spec::Sizes::none) return {};
    std::vector<Description> all;
    all.push_back({.name = side == Side::input ? "send" : "recv",
                   .type = "that of the case",
                   .shape = fmt::format("({}, {}), one row for each rank that has one; or a file "
                                        "for each rank",
                                        "ranks",
                                        elements_in_words(contract, side))});
    if (side == Side::input && traits.reduces) {
      all.push_back(
          {.name = "scalar", .type = "that of the case", .shape = "(ranks,), if op is premul_sum"});
    }
    return all;
  }

  [[nodiscard]] std::vector<std::string_view> fields_of_rules() const override {
    return {"first_index", "index_stride", "send_stride", "recv_stride"};
  }

  void complete(const spec::Contract& contract,
                std::span<const UserArray> inputs,
                ordered_json& fields) const override {
    const auto send = std::find_if(
        inputs.begin(), inputs.end(), [](const UserArray& each) { return each.name == "send"; });
    if (send == inputs.end()) return;
    const harness::NpyArray& file = send->first();
    if (!fields.contains("type")) fields["type"] = spec::name(type_of(*send));
    if (!fields.contains("ranks")) {
      const bool shows_ranks = collective(contract).sizes != spec::Sizes::none &&
                               !collective(contract).rooted && !file.shape().empty();
      if (!shows_ranks) throw BadInput("--case: ranks: got nothing, expected the number of ranks");
      fields["ranks"] = file.shape().front();
    }
    if (collective(contract).sizes != spec::Sizes::count || fields.contains("count")) return;
    ordered_json one = fields;
    one["count"] = 1;
    const Case c = harness::case_from_json(one);
    if (c.ranks < 1 || c.ranks > ranks_max) return;
    const spec::Call call = collective_call(c);
    if (spec::why_invalid(contract, call)) return;
    std::int64_t rows = 0;
    std::int64_t unit = 0;
    for (const auto& part : parts_of(contract, call, Side::input)) {
      if (part) ++rows;
      if (part && part->front() > 0) unit = part->front();
    }
    const bool has_rows = !send->by_rank() && (rows > 1 || file.shape().size() > 1);
    const std::int64_t parts = has_rows && !file.shape().empty() ? file.shape().front() : 1;
    const std::int64_t divisor = std::max<std::int64_t>(unit * parts, 1);
    fields["count"] = file.count() / divisor;
  }

  [[nodiscard]] std::vector<Slot> slots(const spec::Contract& contract,
                                        const Case& c,
                                        Side side) const override {
    if (collective(contract).sizes == spec::Sizes::none) return {};
    std::vector<std::optional<Shape>> parts = parts_of(contract, collective_call(c), side);
    std::vector<Slot> all;
    all.push_back({.name = side == Side::input ? "send" : "recv",
                   .type = c.type,
                   .whole = whole_of(parts),
                   .parts = parts});
    if (side == Side::input && has_scalar(c)) {
      all.push_back({.name = "scalar", .type = c.type, .whole = Shape{harness::group_size(c)}});
    }
    return all;
  }

  [[nodiscard]] std::vector<Run> runs(const spec::Contract& contract,
                                      const Case& c,
                                      Side side,
                                      int rank) const override {
    const spec::Call call = collective_call(c);
    std::int64_t first = 0;
    std::vector<Run> all;
    for (int r = 0; r <= rank; ++r) {
      const spec::Extents extents = spec::extents_of(contract, call, r);
      for (const spec::Block& block : blocks_of(extents, side)) {
        if (r == rank) {
          all.push_back({.slot = 0, .first = first, .offset = block.offset, .count = block.count});
        }
        first += block.count;
      }
    }
    return all;
  }

  /// Every value has a meaning for a collective: the reference knows infinities and NaN.
  void require_values(const spec::Contract&,
                      const Case&,
                      std::span<const Slot>,
                      std::span<const Values>) const override {}

  [[nodiscard]] std::vector<Expected> expect(const harness::Evidence& evidence) const override {
    const Case& c = evidence.stages.front();
    Oracle oracle(evidence, 0);
    Expected all{.type = c.type};
    const auto bytes = spec::to_size(spec::info(c.type).bytes);
    const std::size_t components = spec::is_complex(c.type) ? 2 : 1;
    std::vector<reference::Piece> pieces;
    numerics::Expected values;
    for (int r = 0; r < oracle.call().ranks; ++r) {
      pieces.clear();
      oracle.collect(r, pieces);
      for (const spec::Block& block : oracle.view(r).layout.extents.recv) {
        const std::size_t before = all.bytes.size();
        all.bytes.resize(before + spec::to_size(block.count) * bytes);
        for (const reference::Piece& piece : pieces) {
          // A piece never belongs to two blocks.
          const std::int64_t at = piece.recv_offset - block.offset;
          if (piece.count == 0 || at < 0 || at >= block.count) continue;
          oracle.expect(piece, 0, piece.count, values);
          write_expected(c.type, values, all.bytes.data() + before + spec::to_size(at) * bytes);
          if (values.as_bits) continue;
          const std::size_t first = (before / bytes + spec::to_size(at)) * components;
          place(values.high, first, all.components);
          place(values.bound, first, all.bounds);
        }
      }
    }
    return {all};
  }

  [[nodiscard]] std::vector<Expected> judge(const harness::Evidence& evidence,
                                            const harness::Property& property,
                                            std::span<const std::size_t>,
                                            harness::Judgement& judgement) const override {
    property.check(evidence, judgement);
    return expect(evidence);
  }

 private:
  static void place(const std::vector<double>& from, std::size_t first, std::vector<double>& out) {
    if (out.size() < first + from.size()) out.resize(first + from.size());
    std::copy(from.begin(), from.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
  }

  /// The type whose numpy arrays have this type.
  static spec::Type type_of(const UserArray& send) {
    const std::string& description = send.first().description();
    for (const spec::TypeInfo& each : spec::type_table) {
      const bool is_numpys = each.type != spec::Type::bf16 && !spec::is_f8(each.type);
      if (is_numpys && harness::is_npy_of(description, each.type)) return each.type;
    }
    throw BadInput(fmt::format(
        "--input send: {}: dtype {}: expected the field type in --case, such as bf16 for the bits "
        "of bfloat16 numbers",
        send.path,
        description));
  }
};

}  // namespace

const FamilyArrays& arrays_of_collectives() {
  static const CollectiveArrays arrays;
  return arrays;
}

}  // namespace rankcheck::cases::evaluate
