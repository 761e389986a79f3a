#include "tests/family/reversals.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/case/family_field.hpp"
#include "harness/case/input.hpp"

namespace rankcheck::reversals {

namespace {

using harness::Case;
using harness::Cell;
using spec::to_size;

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

}  // namespace

harness::Catalogue catalogue() {
  return harness::Catalogue({{.contract = contract(), .properties = {reverses()}}});
}

std::unique_ptr<harness::Backend> open_backend(bool is_wrong) {
  return std::make_unique<Reverser>(is_wrong);
}

}  // namespace rankcheck::reversals

namespace rankcheck::harness {

std::span<const Family* const> families() {
  static const reversals::Reversals reversals;
  static const std::array<const Family*, 1> all{&reversals};
  return all;
}

}  // namespace rankcheck::harness
