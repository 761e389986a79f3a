#include "cases/ptycho/stage.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "reference/ptycho/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases {

namespace {

using reference::BoundedArray;
using reference::OperatorArrays;
using spec::Array;

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

/// Reads the block at `at` into its place among the values of all positions.
void read_block(spec::Type type,
                const spec::Block& block,
                const std::byte* at,
                BoundedArray& bounded) {
  const std::int64_t bytes = spec::info(type).bytes;
  const std::int64_t parts = spec::info(block.array).is_complex ? 2 : 1;
  for (std::int64_t i = 0; i < block.count / parts; ++i) {
    const std::byte* value = at + i * parts * bytes;
    bounded.values[spec::to_size(block.first / parts + i)] = {
        component(type, value), parts == 2 ? component(type, value + bytes) : 0};
  }
}

OperatorArrays empty_arrays(const harness::Case& c) {
  OperatorArrays arrays;
  arrays.scene = ptycho(c).scene;
  arrays.positions = std::accumulate(c.counts.begin(), c.counts.end(), std::int64_t{0});
  arrays.counts = c.counts;
  arrays.unit = std::ldexp(1, -spec::info(c.type).precision) + std::ldexp(1, -53);
  return arrays;
}

/// Whether twice the bound is still useful for most values of an output.
bool says_much(const OperatorStage& stage, Array array) {
  const BoundedArray& got = stage.got[array];
  harness::PowerMeter meter;
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    meter.add(std::abs(got.values[i]), 2 * stage.expected[array].errors[i]);
  }
  const harness::Power power = meter.power();
  return 10 * power.useful >= 9 * power.elements;
}

}  // namespace

bool is_exact(const spec::Contract& contract, const harness::Case& c) {
  return ptycho(contract).exact_on_whole_numbers && c.input == harness::InputKind::exact;
}

bool searches_along_directions(const spec::Contract& contract) {
  const std::vector<Array>& outputs = ptycho(contract).outputs;
  const auto has = [&](Array array) {
    return std::find(outputs.begin(), outputs.end(), array) != outputs.end();
  };
  return has(Array::object_direction) && has(Array::step_lengths);
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
  // The stage may be moved, so it must not keep a pointer into itself.
  stage.in.followed = nullptr;
  stage.in.follow = reference::Follow::nothing;
  if (!is_exact(stage.contract, stage.c)) return;
  for (BoundedArray& bounded : stage.expected.arrays) {
    std::fill(bounded.errors.begin(), bounded.errors.end(), 0.0);
  }
}

OperatorStage read_stage(const harness::Evidence& evidence,
                         std::size_t stage,
                         reference::Follow follow) {
  const harness::Case& c = evidence.stages[stage];
  OperatorStage result{.c = c,
                       .contract = evidence.catalogue.find(c.operation)->contract,
                       .in = empty_arrays(c),
                       .expected = empty_arrays(c),
                       .got = empty_arrays(c),
                       .index = stage};
  for (const spec::Array array : ptycho(result.contract).inputs) result.in.make(array);
  for (const spec::Array array : ptycho(result.contract).outputs) result.got.make(array);
  const std::int64_t bytes = spec::info(c.type).bytes;
  // Rank 0 comes last, so that arrays that every rank has show rank 0's values.
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

std::complex<double> RelatedStages::taken(spec::Array array, std::size_t index) const {
  const std::complex<double> got = first.got[array].values[index];
  return by_parts[spec::to_size(array)] ? got - first.expected[array].values[index] : got;
}

std::complex<double> RelatedStages::base(spec::Array array, std::size_t index) const {
  return by_parts[spec::to_size(array)] ? second.expected[array].values[index] : 0;
}

RelatedStages read_related(const harness::Evidence& evidence,
                           std::size_t first,
                           std::size_t second) {
  using reference::Follow;
  RelatedStages stages{read_stage(evidence, first, Follow::choices),
                       read_stage(evidence, second, Follow::choices)};
  const auto lengths = [](const OperatorStage& stage) -> const auto& {
    return stage.got[Array::step_lengths].values;
  };
  if (lengths(stages.first) != lengths(stages.second)) {
    // With different step lengths, each reference holds only for its own lengths. Only bounds for
    // any choice of lengths relate the two stages.
    expect_again(stages.first, Follow::nothing);
    expect_again(stages.second, Follow::nothing);
  }
  if (!searches_along_directions(stages.first.contract)) return stages;
  for (const Array array : ptycho(stages.first.contract).outputs) {
    stages.by_parts[spec::to_size(array)] =
        !says_much(stages.first, array) || !says_much(stages.second, array);
  }
  // The reference of a step is slow, so it runs again only if some bound is too large.
  if (stages.by_parts == decltype(stages.by_parts){}) return stages;
  for (OperatorStage* stage : {&stages.first, &stages.second}) {
    const OperatorArrays whole = stage->expected;
    expect_again(*stage, Follow::results);
    for (const Array array : ptycho(stage->contract).outputs) {
      if (!stages.by_parts[spec::to_size(array)]) stage->expected[array] = whole[array];
    }
  }
  return stages;
}

}  // namespace rankcheck::cases
