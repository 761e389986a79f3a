#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reference/spec/contract.hpp"
#include "reference/spec/type.hpp"

#include "harness/case/call_class.hpp"
#include "harness/case/case.hpp"
#include "harness/case/drawing.hpp"
#include "harness/case/field.hpp"

/// What the harness asks a family of operations, for example the collectives. The harness itself
/// knows no family. To add one, derive from Family in a folder of cases/ and add the object to
/// families().
namespace rankcheck::harness {

struct BackendTraits;

/// The places among the common fields at which a family's fields are shrunk.
enum class ShrinkPlace : std::uint8_t {
  behind_group,
  behind_counts,
  behind_type,
  behind_schedule,
};

/// What a worker has to know of a field; see Capabilities.
enum class FieldRole : std::uint8_t {
  /// Not every implementation offers all values.
  choice,
  /// A size, like the counts.
  size,
  /// The field only says what the inputs are. A worker that gets its inputs need not know it.
  input,
  /// Only the property looks at the field: it decides which stages there are. The stages have the
  /// default, so no worker ever gets another value.
  program,
};

/// One field of a family's part of a case.
struct FamilyField {
  Field<Case> json;
  /// The common field before which this field stands in a case's JSON.
  std::string_view before;
  /// Where the field is shrunk, and its order among the family's fields there.
  ShrinkPlace place = ShrinkPlace::behind_counts;
  int order = 0;
  /// A natural number that is smaller for simpler cases. Null if the field is not compared.
  std::uint64_t (*weight)(const Case& c) = nullptr;
  /// Appends changed cases to try when `c` is shrunk, the most drastic change first. They may be
  /// illegal or no simpler than `c`. May be null.
  void (*candidates)(const Case& c, std::vector<Case>& out) = nullptr;
  FieldRole role = FieldRole::choice;
};

/// One type of elements, in one variant, that a unit has to cover.
struct Cell {
  spec::Type type = spec::Type::f32;
  /// What else distinguishes cells of the family, as a number that the family chooses (for
  /// collectives, the reduction), and the name of this variant.
  int variant = 0;
  std::string_view variant_name;
  /// The kinds of input that are defined for the cell. Every visit takes the next kind.
  std::vector<InputKind> kinds;
  std::int64_t visits = 0;
  /// Number of cases that were run and compared.
  std::int64_t covered = 0;
  /// Whether no case of any round has covered the cell yet.
  bool is_open = true;
  /// Whether a case of the cell failed as a known defect says.
  bool is_known = false;

  /// "<type>/<variant>".
  [[nodiscard]] std::string name() const;
};

/// A family of operations. It owns the fields that only its cases have, and knows how cases of its
/// operations are drawn, checked, laid out in memory and filled.
class Family {
 public:
  virtual ~Family() = default;

  /// The name of the family's folder; see spec::family().
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The contract of an operation. Null if the family has no such operation.
  [[nodiscard]] virtual const spec::Contract* find(std::string_view operation) const = 0;
  /// The fields of the family's part of a case, in the order of their JSON.
  [[nodiscard]] virtual std::span<const FamilyField> fields() const = 0;
  /// The number of ranks from which on cases test something. Units require it by default.
  [[nodiscard]] virtual int ranks_usual() const { return 1; }

  /// All cells that cases of the operation can have.
  [[nodiscard]] virtual std::vector<Cell> cells(const spec::Contract& contract) const = 0;
  /// The variant that the case belongs to; see Cell.
  [[nodiscard]] virtual int variant(const Case& /*c*/) const { return 0; }
  /// Makes the case one of this variant.
  virtual void set_variant(int /*variant*/, Case& /*c*/) const {}
  /// The classes of cases that only the family has.
  [[nodiscard]] virtual std::vector<CallClass> call_classes(
      const spec::Contract& /*contract*/) const {
    return {};
  }
  /// Draws the sizes and the family's own fields. The ranks and the group are already drawn.
  virtual void draw(const spec::Contract& contract, const Drawing& drawing, Case& out) const = 0;
  /// Draws the fields that say how the call is made: when, how often, and with which strides. The
  /// numbers come from a source of their own, so that all other fields stay what they would be
  /// without these.
  virtual void draw_manner(const spec::Contract& /*contract*/,
                           RandomSource& /*random*/,
                           const BackendTraits& /*traits*/,
                           Case& /*c*/) const {}
  /// Whether elements of a buffer lie apart; see spec::Extents. Few backends take such cases. The
  /// default is that no case has such buffers.
  [[nodiscard]] virtual bool is_strided(const Case& /*c*/) const { return false; }
  /// Lets the elements of all buffers lie side by side. The default changes nothing.
  virtual void make_dense(Case& /*c*/) const {}
  /// Gives a part of a drawn case a large number of elements, of about `size` bytes, see
  /// large_count(). Returns false if the operation has no such part, which is the default.
  [[nodiscard]] virtual bool enlarge(const spec::Contract& /*contract*/,
                                     RandomSource& /*random*/,
                                     std::int64_t /*size*/,
                                     Case& /*c*/) const {
    return false;
  }
  /// Makes fields agree that depend on one another, in a case that was drawn or made simpler. The
  /// default changes nothing.
  virtual void settle(const spec::Contract& /*contract*/, Case& /*c*/) const {}
  /// Removes what few backends take from the family's own fields.
  virtual void simplify(Case& /*c*/) const {}
  /// The plainest operation of the family. Empty if none is plainer than the others.
  [[nodiscard]] virtual std::string_view plainest() const { return {}; }
  /// Makes the case one of the plainest operation with the same members, and with sizes like its
  /// own.
  virtual void make_plainest(Case& /*c*/) const {}
  /// Changes sizes, root and so on after members were removed. `kept` holds the ranks, in the group
  /// of `c`, of the members that are left; `out` has the new ranks and group already. The default
  /// keeps the counts of these members.
  virtual void keep_members(const spec::Contract& contract,
                            const Case& c,
                            std::span<const int> kept,
                            Case& out) const;

  /// Why nobody can run the case, in words that name the field. Empty if the case is valid. The
  /// ranks, the group and the common fields' ranges are already checked.
  [[nodiscard]] virtual std::string why_invalid(const spec::Contract& contract,
                                                const Case& c) const = 0;

  /// Fills the extents of group rank `rank`, which must be empty; keeps the vectors' capacity.
  virtual void fill_extents(const spec::Contract& contract,
                            const Case& c,
                            int rank,
                            spec::Extents& extents) const = 0;
  /// Writes the input elements of a block in the send buffer of world rank `rank`. `block_index` is
  /// the block's index in the buffer. `out` need not be aligned.
  virtual void fill(
      const Case& c, int rank, int block_index, const spec::Block& block, std::byte* out) const = 0;
  /// What a member of a call needs to know besides the case and its buffers, as JSON fields. Only
  /// workers that do not derive their inputs are told.
  [[nodiscard]] virtual nlohmann::ordered_json extras(const Case& /*c*/, int /*world_rank*/) const {
    return nlohmann::ordered_json::object();
  }
  /// Says what array a block is, as an object with `name`, `shape` and `type`. `rank` is the
  /// member's place in the group. Null if the family's blocks are just runs of elements.
  [[nodiscard]] virtual nlohmann::ordered_json describe_block(const Case& /*c*/,
                                                              int /*rank*/,
                                                              const spec::Block& /*block*/) const {
    return nullptr;
  }
  /// An element as text for people. The default is its bits in hexadecimal digits.
  [[nodiscard]] virtual std::string text_of(spec::Type type, const std::byte* element) const;
  /// Whether two ranks may have these two elements of a result that must be the same on every rank.
  /// Their bits differ.
  [[nodiscard]] virtual bool is_same(const Case& /*c*/,
                                     const std::byte* /*one*/,
                                     const std::byte* /*other*/) const {
    return false;
  }
  /// Bits that are set in every 8 bytes of poison.
  [[nodiscard]] virtual std::uint64_t poison_bits(const Case& /*c*/) const { return 0; }
  /// Whether some send blocks of the case take the results of earlier stages.
  [[nodiscard]] virtual bool is_chained(const Case& /*c*/) const { return false; }
  /// Whether a chained case takes block `to` of its send buffer from block `from` of an earlier
  /// stage's recv buffer.
  [[nodiscard]] virtual bool is_taken_from(const spec::Block& /*to*/,
                                           const spec::Block& /*from*/) const {
    return false;
  }
  /// Whether a block of the recv buffer must be the same on every rank.
  [[nodiscard]] virtual bool is_common(const spec::Contract& contract,
                                       const Case& /*c*/,
                                       const spec::Block& /*block*/) const {
    return contract.ranks_agree;
  }
};

/// All families of this program. Each program defines this function: cases/families/families.cpp
/// does for rankcheck and its workers.
[[nodiscard]] std::span<const Family* const> families();

/// The family that has the operation. Null if there is none.
[[nodiscard]] const Family* find_family(std::string_view operation);

/// The family of an operation. Throws std::out_of_range if no family has the contract's family
/// name.
[[nodiscard]] const Family& family_of(const spec::Contract& contract);

/// The bits of an element as one hexadecimal number, such as 0x3f800000.
[[nodiscard]] std::string hexadecimal(std::span<const std::byte> element);

/// The smaller numbers to try for a field, down to `least`: the smallest, the next, then values
/// ever closer to `value`.
template <class Number>
[[nodiscard]] std::vector<Number> smaller(Number value, Number least = 0) {
  std::vector<Number> values;
  if (value <= least) return values;
  values.push_back(least);
  if (value - least > 1) values.push_back(static_cast<Number>(least + 1));
  for (auto step = static_cast<Number>((value - least) / 2); step > 0;
       step = static_cast<Number>(step / 2)) {
    const auto next = static_cast<Number>(value - step);
    if (next > values.back()) values.push_back(next);
  }
  return values;
}

}  // namespace rankcheck::harness
