#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/backend/backend.hpp"
#include "harness/case/family.hpp"
#include "harness/case/family_field.hpp"
#include "harness/case/input.hpp"
#include "harness/check/operation.hpp"
#include "harness/search/engine.hpp"

#include "tests/harness/text.hpp"

/// A third family, as small as a family can be. It has one operation: every rank reverses its
/// elements behind the first `kept` ones. It shows that a new family needs no change of the
/// harness.
namespace rankcheck::reversals {
namespace {

using harness::Case;
using harness::Cell;
using spec::to_size;

/// The fields that only cases of this family have.
struct ReversalCase {
  static constexpr std::string_view family = "reversals";

  /// Number of elements at the front that stay in their places.
  int kept = 0;

  friend bool operator==(const ReversalCase&, const ReversalCase&) = default;
};

/// What the family's contracts say in addition to the common part: nothing.
struct ReversalTraits {
  static constexpr std::string_view family = ReversalCase::family;

  friend bool operator==(const ReversalTraits&, const ReversalTraits&) = default;
};

int kept(const Case& c) {
  return c.part.get<ReversalCase>().kept;
}

/// The family's fields: one table says how they are written, read and shrunk.
constexpr std::array all_fields{harness::FamilyField{
    .json = harness::part_field<harness::MemberOfPart<&ReversalCase::kept>>("kept"),
    .before = "type",
    .weight = [](const Case& c) { return static_cast<std::uint64_t>(kept(c)); },
    .candidates =
        [](const Case& c, std::vector<Case>& out) {
          for (const int fewer : harness::smaller(kept(c))) {
            out.emplace_back(c).part.edit<ReversalCase>().kept = fewer;
          }
        },
}};

const spec::Contract& contract() {
  static const spec::Contract only{
      .name = "reverse",
      .summary = "Every rank reverses its elements behind the first `kept` ones.",
      .formula = "out[r][i] = in[r][i] for i < kept, else in[r][kept + c - 1 - i]",
      .source = "std::reverse_copy",
      .part = ReversalTraits{},
  };
  return only;
}

class Reversals final : public harness::Family {
 public:
  [[nodiscard]] std::string_view name() const override { return ReversalCase::family; }

  [[nodiscard]] const spec::Contract* find(std::string_view operation) const override {
    return operation == contract().name ? &contract() : nullptr;
  }

  [[nodiscard]] std::span<const harness::FamilyField> fields() const override { return all_fields; }

  [[nodiscard]] std::vector<Cell> cells(const spec::Contract&) const override {
    return {{.type = spec::Type::uint8,
             .variant_name = "none",
             .kinds = {harness::InputKind::general}}};
  }

  void draw(const spec::Contract&, const harness::Drawing& drawing, Case& out) const override {
    out.count = drawing.count(group_size(out), drawing.limit());
    const auto kept = static_cast<int>(drawing.random.between(0, out.count));
    out.part = ReversalCase{.kept = kept};
  }

  [[nodiscard]] std::string why_invalid(const spec::Contract&, const Case& c) const override {
    if (c.type != spec::Type::uint8) return "type: expected uint8";
    if (kept(c) < 0 || kept(c) > c.count) return "kept: expected 0.." + std::to_string(c.count);
    return {};
  }

  void fill_extents(const spec::Contract&,
                    const Case& c,
                    int,
                    spec::Extents& extents) const override {
    extents.send = extents.recv = {{.offset = 0, .count = c.count}};
    extents.send_size = extents.recv_size = c.count;
  }

  void fill(const Case& c, int rank, int, const spec::Block& block, std::byte* out) const override {
    const harness::CounterHash hash(c.data_seed, to_size(rank));
    for (std::int64_t i = 0; i < block.count; ++i) {
      out[i] = static_cast<std::byte>(hash(to_size(i)) % 256);
    }
  }
};

/// Writes the elements, reversed behind the first `kept` ones.
void reverse(const std::byte* in, std::int64_t count, int kept, std::byte* out) {
  std::copy_n(in, kept, out);
  std::reverse_copy(in + kept, in + count, out + kept);
}

harness::Property reverses() {
  return {
      .name = "agrees_with_reference",
      .summary = "The results are the reversed elements.",
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) { stages = {c}; },
      .check =
          [](const harness::Evidence& evidence, harness::Judgement& judgement) {
            const Case& c = evidence.stages[0];
            std::vector<std::byte> expected(to_size(c.count));
            for (int rank = 0; rank < group_size(c); ++rank) {
              const harness::BufferView after = view(evidence, 0, rank);
              reverse(after.send(), c.count, kept(c), expected.data());
              expect_same_bits(c,
                               rank,
                               0,
                               c.count,
                               after.recv(),
                               expected.data(),
                               "the elements are not reversed",
                               judgement);
            }
          },
  };
}

/// A backend that computes the operation. A wrong one forgets `kept`.
class Reverser final : public harness::Backend {
 public:
  explicit Reverser(bool is_wrong) : is_wrong_(is_wrong) { traits_.name = "sim"; }

  [[nodiscard]] const harness::BackendTraits& traits() const override { return traits_; }
  [[nodiscard]] std::vector<harness::AlgorithmInfo> algorithms() const override {
    return {{.operation = "reverse", .name = "copy", .summary = "Copies backwards."}};
  }
  [[nodiscard]] std::string why_refused(const Case&) const override { return {}; }

  void run(std::span<const Case> stages, harness::Observation& observation) override {
    observation.clear();
    observation.stages.resize(stages.size());
    const auto contract_of = [](std::string_view) -> const spec::Contract& { return contract(); };
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const Case& c = stages[s];
      const int left_out = is_wrong_ ? 0 : kept(c);
      observation.path.emplace_back("copy");
      harness::StageOutcome& outcome = observation.stages[s];
      outcome.stamps.resize(to_size(group_size(c)));
      outcome.images.resize(to_size(group_size(c)));
      for (int rank = 0; rank < group_size(c); ++rank) {
        harness::ImageLayout layout;
        harness::Image& image = outcome.images[to_size(rank)];
        const auto place = harness::ResultPlace::own_block;
        prepare_stage(contract_of, stages, s, rank, place, {}, layout, image);
        reverse(image.data() + layout.send, c.count, left_out, image.data() + layout.recv);
      }
    }
  }

 private:
  bool is_wrong_;
  harness::BackendTraits traits_;
};

/// The family's operation with its one property.
harness::Catalogue catalogue() {
  return harness::Catalogue({{.contract = contract(), .properties = {reverses()}}});
}

harness::Unit unit() {
  harness::Unit unit;
  unit.operation = "reverse";
  unit.algorithm = "copy";
  unit.backend = "sim";
  unit.property = "agrees_with_reference";
  return unit;
}

TEST(ReversalsTest, AreCheckedWithoutAnyOtherFamily) {
  Reverser backend(false);
  const harness::Finding finding = run_unit(catalogue(), backend, unit(), harness::RunLimits());
  EXPECT_EQ(finding.verdict, harness::Verdict::passed) << finding.reason;
  EXPECT_EQ(finding.cases, 100);
  EXPECT_GT(finding.compared_bytes, 1000);
  EXPECT_TRUE(finding.cells.contains("uint8/none"));
  EXPECT_TRUE(finding.missing_cells.empty());
}

TEST(ReversalsTest, FailuresShrinkInTheFamilysOwnField) {
  Reverser backend(true);
  const harness::Finding finding = run_unit(catalogue(), backend, unit(), harness::RunLimits());
  EXPECT_EQ(finding.verdict, harness::Verdict::falsified);
  ASSERT_TRUE(finding.minimal);
  EXPECT_EQ(finding.minimal->ranks, 1);
  EXPECT_EQ(finding.minimal->count, 2);
  EXPECT_EQ(finding.minimal->part.get<ReversalCase>().kept, 1);
}

TEST(ReversalsTest, CasesHaveTheFieldInTheirText) {
  const std::string text =
      R"({"operation":"reverse","backend":"sim","ranks":2,"count":4,"kept":3,"type":"uint8"})";
  const Case c = harness::case_from_text(text);
  EXPECT_EQ(c.part.get<ReversalCase>().kept, 3);
  EXPECT_EQ(to_text(c), text);
  EXPECT_EQ(why_invalid(catalogue(), c), "");
}

TEST(ReversalsTest, InvalidFieldsAndThoseOfOtherFamiliesAreNamed) {
  EXPECT_EQ(harness::complaint_of<harness::BadInput>([] {
              return harness::case_from_text(R"({"operation":"reverse","ranks":2,"op":"sum"})");
            }),
            "case: op: unknown field; did you mean operation?");
  const Case c = harness::case_from_text(
      R"({"operation":"reverse","ranks":1,"count":1,"kept":2,"type":"uint8"})");
  EXPECT_EQ(why_invalid(catalogue(), c), "kept: expected 0..1");
}

}  // namespace
}  // namespace rankcheck::reversals

namespace rankcheck::harness {

std::span<const Family* const> families() {
  static const reversals::Reversals reversals;
  static const std::array<const Family*, 1> all{&reversals};
  return all;
}

}  // namespace rankcheck::harness
