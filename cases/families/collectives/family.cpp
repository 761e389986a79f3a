#include "cases/families/collectives/family.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/numerics/fold.hpp"
#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/backend/backend.hpp"
#include "harness/backend/stages.hpp"
#include "harness/case/hosts.hpp"
#include "harness/case/strata.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

namespace rankcheck::cases {

namespace {

using harness::CallClass;
using harness::Case;
using harness::Cell;
using harness::Drawing;
using harness::group_size;
using harness::InputKind;
using spec::ReduceOp;
using spec::Sizes;

/// Maximum of first_index and index_stride. Indices wrap at 2^64.
constexpr std::int64_t input_index_max = std::int64_t{1} << 48;
/// Maximum number of arrays of a drawn list. A list that a user writes may have more.
constexpr std::int64_t arrays_max = 6;
/// Maximum of a drawn length before or behind an axis.
constexpr std::int64_t lengths_max = 5;
/// Maximum number of rows of a rank in a reduction that has to cover a cell.
constexpr std::int64_t covering_rows_max = 2;
/// The most calls of a drawn case. A case that a user writes may have more.
constexpr std::int64_t drawn_repeat_max = 4;
/// One case in so many has a late rank, and one in so many has late inputs on simulated devices.
constexpr std::int64_t late_every = 16;
/// One case in so many has strides, and the largest drawn stride.
constexpr std::int64_t strided_every = 16;
constexpr std::int64_t drawn_stride_max = 4;
/// The first whole number that f16 does not have.
constexpr std::int64_t rows_beyond_f16 = 2049;

/// The classes of cases whose elements lie apart, with a late rank, and with late inputs.
constexpr std::string_view strided = "site/strided";
constexpr std::string_view late = "site/late";
constexpr std::string_view pending = "site/pending";

/// Whether the members of a case are on several hosts.
bool has_hosts(const Case& c) {
  return !c.hosts.empty() && !harness::numbered(hosts_of_members(c)).empty();
}

/// The bytes of the longest block.
std::int64_t block_bytes(const Case& c) {
  const CollectiveCase& own = collective(c);
  return harness::longest(c) * own.outer * own.inner * spec::info(c.type).bytes;
}

/// The class of cases with blocks of this size, one element less, or a few segments of it.
CallClass block_class(std::int64_t bytes) {
  const std::int64_t kib = bytes >> 10;
  return {.name = fmt::format(
              "{}block_of_{}",
              harness::site_prefix,
              kib < 1024 ? fmt::format("{}_kib", kib) : fmt::format("{}_mib", kib >> 10)),
          .has =
              [bytes](const Case& c) {
                const std::int64_t least = bytes - spec::info(c.type).bytes;
                return block_bytes(c) >= least && block_bytes(c) < 4 * least;
              },
          .needs = CallClass::Needs::size,
          .bytes = bytes};
}

/// The classes of calls on several hosts, with a late rank, with late inputs and with large blocks.
std::vector<CallClass> classes_of_calls() {
  const auto site = [](std::string_view name) {
    return std::string(harness::site_prefix) + std::string(name);
  };
  using Needs = CallClass::Needs;
  std::vector<CallClass> classes{
      {.name = site("several_hosts"), .has = has_hosts, .needs = Needs::hosts, .field = "hosts"},
      {.name = std::string(late),
       .has = [](const Case& c) { return c.late >= 0 && group_size(c) > 1; },
       .needs = Needs::delays,
       .field = "late"},
      {.name = std::string(pending),
       .has = [](const Case& c) { return c.pending; },
       .needs = Needs::arrivals,
       .field = "pending"},
      {.name = site("large_block"),
       .has = [](const Case& c) { return block_bytes(c) >= harness::strata.front().bytes; },
       .needs = Needs::size},
  };
  for (const harness::Stratum& each : harness::strata) classes.push_back(block_class(each.bytes));
  return classes;
}

/// Draws strides of which at least one is above 1.
void draw_strides(harness::RandomSource& random, CollectiveCase& own) {
  own.send_stride = random.between(1, drawn_stride_max);
  own.recv_stride = random.between(own.send_stride == 1 ? 2 : 1, drawn_stride_max);
}

/// Why a case cannot have its strides. Empty if it can.
std::string why_strides_invalid(const spec::Contract& contract, const CollectiveCase& own) {
  for (const auto& [field, stride] :
       {std::pair("send_stride", own.send_stride), std::pair("recv_stride", own.recv_stride)}) {
    if (stride < 1 || stride > stride_max) {
      return fmt::format("{}: got {}, expected 1..{}", field, stride, stride_max);
    }
    if (stride != 1 && !may_be_strided(contract)) {
      return fmt::format("{}: got {}, expected 1 for {}", field, stride, contract.name);
    }
  }
  return {};
}

/// A rank of the group as JSON. Null if there is nobody.
nlohmann::ordered_json partner(int rank) {
  if (rank == spec::nobody) return nullptr;
  return rank;
}

std::vector<InputKind> kinds_of(spec::Type type, ReduceOp op) {
  std::vector<InputKind> kinds;
  for (const InputKind kind : {InputKind::coded,
                               InputKind::general,
                               InputKind::exact,
                               InputKind::special,
                               InputKind::each_special,
                               InputKind::cancelling,
                               InputKind::wide_range,
                               InputKind::edge}) {
    if (is_defined(kind, type, op)) kinds.push_back(kind);
  }
  return kinds;
}

/// Whether a conversion to a narrower type and back can change values. Eight-bit types have no
/// narrower type.
bool has_narrower(const spec::TypeInfo& type) {
  return type.bytes > 1;
}

/// The class of cases with this input of a type, and with this op if there is one.
CallClass with_input(spec::Type component,
                     std::string_view name,
                     InputKind input,
                     std::optional<ReduceOp> op) {
  const auto admits = [=](spec::Type type, ReduceOp its_op) {
    return component == spec::component(type) && (!op || *op == its_op);
  };
  return harness::with_input(
      spec::name(component),
      name,
      input,
      special_values,
      [=](const Cell& cell) { return admits(cell.type, static_cast<ReduceOp>(cell.variant)); },
      [=](const Case& c) { return admits(c.type, collective(c).op); });
}

/// Draws the shapes of arrays for an operation along an axis.
void draw_shapes(const spec::CollectiveTraits& traits,
                 const Drawing& drawing,
                 CollectiveCase& own,
                 Case& out) {
  harness::RandomSource& random = drawing.random;
  const int n = group_size(out);
  const auto length = [&] {
    // Arrays without elements are rare, because they leave nothing to compare.
    const bool is_empty = !drawing.has_data && random.below(64) == 0;
    return is_empty ? 0 : random.between(1, lengths_max);
  };
  own.outer = length();
  own.inner = length();
  const std::int64_t elements = std::max<std::int64_t>(1, own.outer * own.inner);
  out.counts = drawing.counts(n, n, std::max<std::int64_t>(1, drawing.limit() / elements));
  if (!traits.reduces) return;
  const std::size_t chosen = spec::to_size(random.below(n));
  if (drawing.has_data) {
    // In a float with few digits, the bound of a long sum is wider than all its terms.
    for (std::int64_t& count : out.counts) count = random.between(0, covering_rows_max);
  }
  // A reduction needs a row.
  if (std::accumulate(out.counts.begin(), out.counts.end(), std::int64_t{0}) == 0)
    out.counts[chosen] = 1;
  // A narrow type cannot count so many rows, if their number is odd.
  if (!drawing.has_data && random.below(4) == 0) {
    out.counts[chosen] = random.between(rows_beyond_f16, 2 * rows_beyond_f16);
    own.outer = own.inner = 1;
    const auto rows = std::accumulate(out.counts.begin(), out.counts.end(), std::int64_t{0});
    if (rows % 2 == 0) ++out.counts[chosen];
  }
}

/// Gives `out` the counts of the members that are kept.
void keep_counts(const spec::Contract& contract,
                 const Case& c,
                 std::span<const int> kept,
                 Case& out) {
  const int n = group_size(c);
  const bool pairs = collective(contract).sizes == Sizes::counts_per_pair;
  out.counts.clear();
  for (std::size_t row = 0; !c.counts.empty() && row < (pairs ? kept.size() : 1); ++row) {
    const int first = pairs ? kept[row] * n : 0;
    for (const int r : kept) out.counts.push_back(c.counts[spec::to_size(first + r)]);
  }
}

/// Whether the case has one count for each pair of ranks, and must have the same ones both ways.
bool mirrors_counts(const spec::Contract& contract, const Case& c) {
  const auto n = spec::to_size(group_size(c));
  return c.in_place && collective(contract).sizes == Sizes::counts_per_pair &&
         c.counts.size() == n * n;
}

/// Why a call in place cannot have these counts. Empty if it can.
std::string why_not_mirrored(const Case& c) {
  const int n = group_size(c);
  for (int r = 0; r < n; ++r) {
    for (int q = r + 1; q < n; ++q) {
      const std::int64_t there = c.counts[spec::to_size(r * n + q)];
      const std::int64_t back = c.counts[spec::to_size(q * n + r)];
      if (there == back) continue;
      return fmt::format(
          "counts: got {} and {}, expected as many elements from rank {} to rank {} as back in "
          "place",
          there,
          back,
          r,
          q);
    }
  }
  return {};
}

class Collectives final : public harness::Family {
 public:
  [[nodiscard]] std::string_view name() const override { return CollectiveCase::family; }

  [[nodiscard]] const spec::Contract* find(std::string_view operation) const override {
    const spec::Contract* const found = reference::find_contract(operation);
    return found != nullptr && spec::family(*found) == name() ? found : nullptr;
  }

  [[nodiscard]] std::span<const harness::FamilyField> fields() const override {
    return collective_fields();
  }

  /// On one rank, collectives move nothing.
  [[nodiscard]] int ranks_usual() const override { return 2; }

  /// A variant is a reduction.
  [[nodiscard]] std::vector<Cell> cells(const spec::Contract& contract) const override {
    std::vector<Cell> all;
    for (const spec::TypeInfo& type : spec::type_table) {
      for (std::size_t i = 0; i < spec::reduce_op_names.size(); ++i) {
        const auto op = static_cast<ReduceOp>(i);
        if ((op != ReduceOp::none) != collective(contract).reduces) continue;
        if (!spec::is_defined(op, type.type)) continue;
        all.push_back({.type = type.type,
                       .variant = static_cast<int>(i),
                       .variant_name = spec::name(op),
                       .kinds = kinds_of(type.type, op)});
      }
    }
    return all;
  }

  [[nodiscard]] int variant(const Case& c) const override {
    return static_cast<int>(collective(c).op);
  }

  void set_variant(int variant, Case& c) const override {
    collective(c).op = static_cast<ReduceOp>(variant);
  }

  /// Every type must have special values (in sums, for reductions; some of these overflow), and
  /// values that no narrower type has.
  [[nodiscard]] std::vector<CallClass> call_classes(const spec::Contract& contract) const override {
    std::vector<CallClass> all{
        {.name = std::string(harness::site_prefix) + "other_root",
         .has = [](const Case& c) { return collective(c).root != 0; },
         .before = "in_place"},
        {.name = std::string(harness::site_prefix) + "gap",
         .has = [](const Case& c) { return collective(c).gap != 0; },
         .needs = CallClass::Needs::data,
         .before = "chunked"},
    };
    if (may_be_strided(contract)) {
      all.push_back({.name = std::string(strided),
                     .has =
                         [](const Case& c) {
                           // Some calls of MPI have one buffer, which is recv.
                           return collective(c).recv_stride != 1 && group_size(c) > 1 &&
                                  harness::longest(c) > 1;
                         },
                     .needs = CallClass::Needs::strides,
                     .before = "chunked",
                     .field = "recv_stride"});
    }
    for (CallClass& each : classes_of_calls()) all.push_back(std::move(each));
    const auto op = collective(contract).reduces ? ReduceOp::sum : ReduceOp::none;
    for (const spec::TypeInfo& type : spec::type_table) {
      if (spec::is_complex(type.type) || !spec::is_defined(op, type.type)) continue;
      if (is_defined(InputKind::each_special, type.type, op)) {
        all.push_back(with_input(type.type, "special", InputKind::each_special, op));
      }
      if (has_narrower(type)) {
        all.push_back(with_input(type.type, "wide", InputKind::general, std::nullopt));
      }
    }
    return all;
  }

  void draw(const spec::Contract& contract, const Drawing& drawing, Case& out) const override {
    const spec::CollectiveTraits& traits = collective(contract);
    harness::RandomSource& random = drawing.random;
    const int n = group_size(out);
    CollectiveCase own;
    if (traits.rooted) own.root = static_cast<int>(random.below(n));
    if (traits.sizes == Sizes::count) out.count = drawing.count(n, drawing.limit());
    if (traits.sizes == Sizes::counts_per_rank || traits.sizes == Sizes::counts_per_pair) {
      const std::int64_t blocks = traits.sizes == Sizes::counts_per_pair ? n : 1;
      const std::int64_t limit = std::max<std::int64_t>(1, drawing.limit() / blocks);
      out.counts = drawing.counts(n * blocks, n, limit);
      own.gap = drawing.gap();
    }
    if (traits.sizes == Sizes::counts_per_array) {
      const std::int64_t arrays = random.between(drawing.has_data ? 1 : 0, arrays_max);
      const std::int64_t limit = drawing.limit() / std::max<std::int64_t>(1, arrays);
      if (arrays > 0) out.counts = drawing.counts(arrays, n, std::max<std::int64_t>(1, limit));
      own.gap = drawing.gap();
    }
    if (traits.sizes == Sizes::lengths_along_axis) draw_shapes(traits, drawing, own, out);
    if (traits.patterned) {
      own.pattern = static_cast<spec::Pattern>(random.below(3));
      if (own.pattern == spec::Pattern::ring) own.shift = static_cast<int>(random.between(-n, n));
      // A part of the cases of `self` becomes `one_way`. So the cases of the other patterns stay
      // what they were before this pattern existed.
      constexpr int two_thirds = 171;
      if (own.pattern == spec::Pattern::self && random.chance(two_thirds)) {
        own.pattern = spec::Pattern::one_way;
      }
    }
    if (drawing.goal == strided) draw_strides(random, own);
    if (drawing.goal == late && n > 1) out.late = static_cast<int>(random.below(n));
    if (drawing.goal == pending) out.pending = true;
    out.part = own;
  }

  void draw_manner(const spec::Contract& contract,
                   harness::RandomSource& random,
                   const harness::BackendTraits& traits,
                   Case& c) const override {
    if (c.property == repeating_property) {
      collective(c).repeat = static_cast<int>(random.between(2, drawn_repeat_max));
    }
    const int n = group_size(c);
    if (traits.has_delays && n > 1 && random.below(late_every) == 0) {
      c.late = static_cast<int>(random.below(n));
    }
    if (traits.has_arrivals && contract.has_buffers && random.below(late_every) == 0) {
      c.pending = true;
    }
    // A case of the class site/strided has its strides already.
    const bool draws_strides = traits.has_strides && may_be_strided(contract) && !is_strided(c);
    if (draws_strides && random.below(strided_every) == 0) {
      draw_strides(random, collective(c));
    }
  }

  /// Arrays along an axis get long rows.
  [[nodiscard]] bool enlarge(const spec::Contract& contract,
                             harness::RandomSource& random,
                             std::int64_t size,
                             Case& c) const override {
    const std::int64_t count = harness::large_count(random, size, spec::info(c.type).bytes);
    if (collective(contract).sizes == Sizes::count) {
      c.count = count;
    } else if (collective(contract).sizes == Sizes::lengths_along_axis) {
      collective(c).inner = count;
      c.chunk = 0;
    } else if (!c.counts.empty()) {
      const std::size_t at = spec::to_size(random.below(std::ssize(c.counts)));
      c.counts[at] = count;
      if (mirrors_counts(contract, c)) {
        const std::size_t n = spec::to_size(group_size(c));
        c.counts[at % n * n + at / n] = count;
      }
    } else {
      return false;
    }
    return true;
  }

  void settle(const spec::Contract& contract, Case& c) const override {
    if (mirrors_counts(contract, c)) spec::mirror_counts(contract, group_size(c), c.counts);
  }

  void simplify(Case& c) const override { collective(c).gap = 0; }

  [[nodiscard]] std::string_view plainest() const override { return "broadcast"; }

  void make_plainest(Case& c) const override {
    c.count = harness::longest(c);
    c.counts.clear();
    c.operation = plainest();
    c.algorithm.clear();
    c.in_place = false;
    c.chunk = 0;
    if (!is_defined(c.input, c.type, ReduceOp::none)) c.input = InputKind::coded;
    c.part = {};
  }

  void make_dense(Case& c) const override {
    collective(c).send_stride = collective(c).recv_stride = 1;
  }

  [[nodiscard]] bool is_strided(const Case& c) const override {
    return cases::is_strided(collective(c));
  }

  void keep_members(const spec::Contract& contract,
                    const Case& c,
                    std::span<const int> kept,
                    Case& out) const override {
    if (collective(contract).sizes != Sizes::counts_per_array) keep_counts(contract, c, kept, out);
    const int root = collective(c).root;
    const auto found = std::find(kept.begin(), kept.end(), root);
    const auto last = static_cast<int>(kept.size()) - 1;
    const int its_place = static_cast<int>(found - kept.begin());
    collective(out).root = found != kept.end() ? its_place : std::min(root, last);
  }

  [[nodiscard]] std::string why_invalid(const spec::Contract& contract,
                                        const Case& c) const override {
    if (auto why = spec::why_invalid(contract, collective_call(c))) return *why;
    if (mirrors_counts(contract, c)) {
      if (std::string why = why_not_mirrored(c); !why.empty()) return why;
    }
    if (c.input == InputKind::fine) return "input: fine is for operations with arrays";
    const CollectiveCase& own = collective(c);
    if (!is_defined(c.input, c.type, own.op)) {
      return "input: " + std::string(harness::name(c.input)) + " is not defined for type " +
             std::string(spec::name(c.type)) + " and op " + std::string(spec::name(own.op));
    }
    if ((c.scale != 1 || c.added_seed != 0) && c.input != InputKind::exact) {
      return "scale, added_seed: expected input exact";
    }
    if (own.repeat < 1 || own.repeat > repeat_max) {
      return fmt::format("repeat: got {}, expected 1..{}", own.repeat, repeat_max);
    }
    if (own.repeat != CollectiveCase().repeat && c.property != repeating_property) {
      return fmt::format("repeat: only the property {} repeats calls", repeating_property);
    }
    if (std::string why = why_strides_invalid(contract, own); !why.empty()) return why;
    for (const std::int64_t index : {own.first_index, own.index_stride}) {
      if (index < 0 || index > input_index_max) {
        return fmt::format(
            "first_index, index_stride: got {}, expected 0..{}", index, input_index_max);
      }
    }
    return {};
  }

  [[nodiscard]] std::string text_of(spec::Type type, const std::byte* element) const override {
    return numerics::to_text(type, element);
  }

  /// IEEE 754 does not say which NaN a sum of two NaN is (6.2.3), so that ranks which combine the
  /// same elements in another order differ in its bits.
  [[nodiscard]] bool is_same(const Case& c,
                             const std::byte* one,
                             const std::byte* other) const override {
    return collective(c).op != ReduceOp::none && numerics::is_same_but_nan(c.type, one, other);
  }

  [[nodiscard]] nlohmann::ordered_json extras(const Case& c, int world_rank) const override {
    auto out = nlohmann::ordered_json::object();
    const spec::Contract* const contract = reference::find_contract(c.operation);
    if (contract != nullptr && spec::collective(*contract).patterned) {
      const int rank = harness::place_in_group(c, world_rank);
      out["to"] = partner(spec::destination(collective_call(c), rank));
      out["from"] = partner(spec::origin(collective_call(c), rank));
    }
    if (!has_scalar(c)) return out;
    std::array<std::byte, 16> scalar{};
    fill_scalar(c, world_rank, scalar.data());
    std::string digits;
    for (std::int64_t i = 0; i < spec::info(c.type).bytes; ++i) {
      digits += fmt::format("{:02x}", std::to_integer<unsigned>(scalar.at(spec::to_size(i))));
    }
    out["scalar"] = digits;
    return out;
  }

  void fill_extents(const spec::Contract& contract,
                    const Case& c,
                    int rank,
                    spec::Extents& extents) const override {
    spec::fill_extents(contract, collective_call(c), rank, extents);
    const bool shares = c.in_place && !extents.send.empty() && !extents.recv.empty();
    extents.recv_stride = collective(c).recv_stride;
    extents.send_stride = shares ? extents.recv_stride : collective(c).send_stride;
  }

  void fill(const Case& c,
            int rank,
            int block_index,
            const spec::Block& block,
            std::byte* out) const override {
    fill_block(c, rank, block_index, block, out);
  }
};

}  // namespace

spec::Call collective_call(const Case& c) {
  const CollectiveCase& own = collective(c);
  return {
      .ranks = group_size(c),
      .root = own.root,
      .type = c.type,
      .op = own.op,
      .count = c.count,
      .counts = c.counts,
      .outer = own.outer,
      .inner = own.inner,
      .gap = own.gap,
      .pattern = own.pattern,
      .shift = own.shift,
  };
}

bool may_be_strided(const spec::Contract& contract) {
  const Sizes sizes = collective(contract).sizes;
  return sizes == Sizes::count || sizes == Sizes::counts_per_rank ||
         sizes == Sizes::counts_per_pair;
}

bool is_repeated(const Case& a, const Case& b) {
  if (a.data_seed == b.data_seed || a.input == InputKind::previous) return false;
  if (a.operation != b.operation || collectives_family().find(a.operation) == nullptr) return false;
  Case same = b;
  same.data_seed = a.data_seed;
  return same == a;
}

const harness::Family& collectives_family() {
  static const Collectives family;
  return family;
}

}  // namespace rankcheck::cases
