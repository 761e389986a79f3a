#include "cases/ptycho/stage.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "reference/ptycho/registry.hpp"

namespace rankcheck::cases {

namespace {

using reference::Field;
using reference::Setting;

double component(spec::Type type, const std::byte* at) {
  if (type == spec::Type::f64) {
    double value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  float value = 0;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

/// Reads a block, which lies at `at`, into its place among the values of all positions.
void read_block(spec::Type type, const spec::Block& block, const std::byte* at, Field& field) {
  const std::int64_t bytes = spec::info(type).bytes;
  const std::int64_t parts = spec::info(block.array).is_complex ? 2 : 1;
  for (std::int64_t i = 0; i < block.count / parts; ++i) {
    const std::byte* value = at + i * parts * bytes;
    field.values[static_cast<std::size_t>(block.first / parts + i)] = {
        component(type, value), parts == 2 ? component(type, value + bytes) : 0};
  }
}

Setting empty_setting(const harness::Case& c) {
  Setting setting;
  setting.scene = c.scene;
  setting.positions = std::accumulate(c.counts.begin(), c.counts.end(), std::int64_t{0});
  setting.counts = c.counts;
  setting.unit = std::ldexp(1, -spec::info(c.type).precision) + std::ldexp(1, -53);
  return setting;
}

}  // namespace

bool is_exact(const spec::Contract& contract, const harness::Case& c) {
  return contract.exact_on_whole_numbers && c.input == harness::InputKind::exact;
}

reference::Operator reference_of(std::string_view operation) {
  const auto& all = reference::ptycho();
  return std::find_if(all.begin(),
                      all.end(),
                      [&](const auto& each) { return each.contract.name == operation; })
      ->reference;
}

void expect_again(OperatorStage& stage, reference::Follow follow) {
  stage.in.followed = &stage.got;
  stage.in.follow = follow;
  reference_of(stage.c.operation)(stage.in, stage.expected);
  // Stages are moved.
  stage.in.followed = nullptr;
  stage.in.follow = reference::Follow::nothing;
  if (!is_exact(stage.contract, stage.c)) return;
  for (Field& field : stage.expected.arrays) {
    std::fill(field.errors.begin(), field.errors.end(), 0.0);
  }
}

OperatorStage read_stage(const harness::Evidence& evidence,
                         std::size_t stage,
                         reference::Follow follow) {
  const harness::Case& c = evidence.stages[stage];
  OperatorStage result{.c = c,
                       .contract = evidence.catalogue.find(c.operation)->contract,
                       .in = empty_setting(c),
                       .expected = empty_setting(c),
                       .got = empty_setting(c)};
  for (const spec::Array array : result.contract.inputs) result.in.make(array);
  for (const spec::Array array : result.contract.outputs) result.got.make(array);
  const std::int64_t bytes = spec::info(c.type).bytes;
  // Rank 0 last: what every rank has is then shown as rank 0 has it.
  for (int rank = harness::group_size(c) - 1; rank >= 0; --rank) {
    const harness::BufferView buffers = view(evidence, stage, rank);
    for (const spec::Block& block : buffers.layout.extents.send) {
      read_block(c.type, block, buffers.send() + block.offset * bytes, result.in[block.array]);
    }
    for (const spec::Block& block : buffers.layout.extents.recv) {
      read_block(c.type, block, buffers.recv() + block.offset * bytes, result.got[block.array]);
    }
  }
  expect_again(result, follow);
  return result;
}

RelatedStages read_related(const harness::Evidence& evidence,
                           std::size_t first,
                           std::size_t second) {
  RelatedStages stages{read_stage(evidence, first, reference::Follow::choices),
                       read_stage(evidence, second, reference::Follow::choices)};
  const auto lengths = [](const OperatorStage& stage) -> const auto& {
    return stage.got[spec::Array::step_lengths].values;
  };
  if (lengths(stages.first) != lengths(stages.second)) {
    expect_again(stages.first, reference::Follow::nothing);
    expect_again(stages.second, reference::Follow::nothing);
  }
  return stages;
}

}  // namespace rankcheck::cases
