#include "cases/collectives/composition.hpp"

#include <algorithm>

#include "reference/numerics/fold.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/properties/nearly_equal.hpp"

#include "cases/collectives/exact_inputs.hpp"
#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

namespace rankcheck::cases {

namespace {

using harness::BufferView;
using harness::Case;
using harness::Evidence;
using harness::InputKind;
using harness::Judgement;
using harness::Verdict;

/// Whether 2a + b == sum in one component. Integers wrap.
bool is_combination(spec::Type component,
                    const std::byte* a,
                    const std::byte* b,
                    const std::byte* sum) {
  if (!spec::is_integer(component)) {
    return 2 * numerics::to_double(component, a) + numerics::to_double(component, b) ==
           numerics::to_double(component, sum);
  }
  const auto bytes = spec::to_size(spec::info(component).bytes);
  const auto low_bits = [&](const std::byte* at) {
    std::uint64_t value = 0;
    std::copy_n(at, bytes, reinterpret_cast<std::byte*>(&value));
    return value;
  };
  const std::uint64_t difference = 2 * low_bits(a) + low_bits(b) - low_bits(sum);
  return (difference << (64 - 8 * bytes)) == 0;
}

void check_linear(const Evidence& evidence, Judgement& judgement) {
  const Case& c = evidence.stages[0];
  const spec::Type component = spec::component(c.type);
  const std::int64_t bytes = spec::info(component).bytes;
  const int parts = spec::is_complex(c.type) ? 2 : 1;
  for (int r = 0; r < group_size(c); ++r) {
    const BufferView a = view(evidence, 0, r);
    const BufferView b = view(evidence, 1, r);
    const BufferView sum = view(evidence, 2, r);
    for (const spec::Block& block : a.layout.extents.recv) {
      judgement.count(r, block.count * parts * bytes);
      judgement.power.add({.elements = block.count, .useful = block.count});
      for (std::int64_t i = block.offset * parts; i < (block.offset + block.count) * parts; ++i) {
        const std::byte* got = sum.recv() + i * bytes;
        if (is_combination(component, a.recv() + i * bytes, b.recv() + i * bytes, got)) continue;
        judgement.fail(Verdict::falsified, "f(2a + b) differs from 2 f(a) + f(b)");
        ++judgement.wrong_count;
        judgement.mark(r, i / parts, harness::Mark::wrong);
        if (judgement.wrong.size() >= harness::wrong_elements_max) continue;
        list_wrong({evidence.stages[2], 2},
                   {.rank = r,
                    .index = i / parts,
                    .expected = "2 * " + numerics::to_text(component, a.recv() + i * bytes) +
                                " + " + numerics::to_text(component, b.recv() + i * bytes),
                    .got = numerics::to_text(component, got)},
                   judgement);
      }
    }
  }
}

}  // namespace

Case stage_of(const Case& c, std::string_view operation) {
  Case stage = c;
  stage.operation = operation;
  stage.algorithm.clear();
  stage.chunk = 0;
  stage.in_place = false;
  return stage;
}

Case next_stage_of(const Case& c, std::string_view operation) {
  Case stage = stage_of(c, operation);
  stage.input = InputKind::previous;
  return stage;
}

Case in_parts(const Case& c) {
  Case parts = c;
  const auto n = spec::to_size(group_size(c));
  parts.counts.resize(n);
  for (std::size_t r = 0; r < n; ++r) {
    parts.counts[r] = harness::nearly_equal_count(c.count, n, r);
  }
  parts.count = 0;
  return parts;
}

void expect_last_equals_first(const Evidence& evidence, Judgement& judgement) {
  const std::size_t last = evidence.stages.size() - 1;
  const Case& c = evidence.stages[last];
  for (int r = 0; r < group_size(c); ++r) {
    const BufferView first = view(evidence, 0, r);
    const BufferView other = view(evidence, last, r);
    if (first.layout.extents.recv.empty() || other.layout.extents.recv.empty()) continue;
    expect_same_bits({c, last, harness::first_call},
                     r,
                     0,
                     first.layout.extents.recv_size,
                     other.recv(),
                     first.recv(),
                     "the composition gives another result",
                     judgement);
  }
}

void expect_stages_equal_blocks(const Evidence& evidence,
                                std::string_view reason,
                                Judgement& judgement) {
  const Case& c = evidence.stages[0];
  const std::int64_t bytes = spec::info(c.type).bytes;
  for (int r = 0; r < group_size(c); ++r) {
    const BufferView whole = view(evidence, 0, r);
    const auto& blocks = whole.layout.extents.recv;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const BufferView call = view(evidence, b + 1, r);
      expect_same_bits(c,
                       r,
                       blocks[b].offset,
                       blocks[b].count,
                       whole.recv() + blocks[b].offset * bytes,
                       call.recv() + call.layout.extents.recv.at(0).offset * bytes,
                       reason,
                       judgement);
    }
  }
}

void expect_last_returns_first(const Evidence& evidence, Judgement& judgement) {
  const std::size_t last = evidence.stages.size() - 1;
  const Case& c = evidence.stages[last];
  const std::int64_t bytes = spec::info(c.type).bytes;
  for (int r = 0; r < group_size(c); ++r) {
    const BufferView first = view(evidence, 0, r);
    const BufferView other = view(evidence, last, r);
    if (first.layout.extents.send.empty() || other.layout.extents.recv.empty()) continue;
    for (std::size_t b = 0; b < first.layout.extents.send.size(); ++b) {
      const spec::Block& sent = first.layout.extents.send[b];
      const spec::Block& returned = other.layout.extents.recv[b];
      expect_same_bits({c, last},
                       r,
                       returned.offset,
                       returned.count,
                       other.recv() + returned.offset * bytes,
                       first.send() + sent.offset * bytes,
                       "the data did not come back unchanged",
                       judgement);
    }
  }
}

void adapt_exact(const spec::Contract& /*contract*/, Case& c) {
  use_exact_inputs(c);
}

bool applies_exact(const spec::Contract& /*contract*/, const Case& c) {
  return has_one_result(c);
}

void adapt_out_of_place(const spec::Contract& /*contract*/, Case& c) {
  c.in_place = false;
}

bool applies_out_of_place(const spec::Contract& /*contract*/, const Case& c) {
  return !c.in_place;
}

harness::Property composes(std::string_view name, std::string_view summary, Program program) {
  return {
      .name = name,
      .summary = summary,
      .applies = applies_exact,
      .adapt = adapt_exact,
      .program = program,
      .check = expect_last_equals_first,
  };
}

harness::Property returns(std::string_view name, std::string_view summary, Program program) {
  return {
      .name = name,
      .summary = summary,
      .applies = applies_out_of_place,
      .adapt = adapt_out_of_place,
      .program = program,
      .check = expect_last_returns_first,
  };
}

harness::Property is_linear() {
  return {
      .name = "is_linear",
      .summary = "f(2a + b) = 2 f(a) + f(b) for sums.",
      .applies =
          [](const spec::Contract&, const Case& c) {
            const bool adds = collective(c).op == spec::ReduceOp::sum ||
                              collective(c).op == spec::ReduceOp::premul_sum;
            if (!adds || c.input != InputKind::exact) return false;
            Case combined = c;
            combined.scale = 2;
            combined.added_seed = 1;
            return is_exact(combined);
          },
      .adapt = [](const spec::Contract&, Case& c) { c.input = InputKind::exact; },
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            stages.assign(3, c);
            stages[1].scale = 0;
            stages[1].added_seed = c.data_seed + 1;
            stages[2].scale = 2;
            stages[2].added_seed = c.data_seed + 1;
          },
      .check = check_linear,
  };
}

harness::Property inverts_scatter() {
  return {
      .name = "inverts_scatter",
      .summary = "A scatter followed by a gather returns the root's data.",
      .applies = nullptr,
      .adapt = nullptr,
      .program =
          [](const spec::Contract& contract, const Case& c, std::vector<Case>& stages) {
            const bool even = collective(contract).sizes == spec::Sizes::count;
            stages = {stage_of(c, even ? "scatter" : "scatter_v"), c};
            stages[1].input = InputKind::previous;
          },
      .check = expect_last_returns_first,
  };
}

}  // namespace rankcheck::cases
