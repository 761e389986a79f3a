#include "cases/audit/result_edits.hpp"

#include <algorithm>

#include "reference/numerics/fold.hpp"
#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/sim/combine.hpp"

#include "harness/case/family.hpp"
#include "harness/case/input.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

namespace rankcheck::cases::audit {

namespace {

using harness::Case;

std::size_t bytes_of(const Case& c) {
  return spec::to_size(spec::info(c.type).bytes);
}

/// Returns the first send block of every rank, as it was before the call.
std::vector<harness::Image> inputs_of(const Outcome& outcome) {
  const Case& c = outcome.c();
  std::vector<harness::Image> inputs;
  const std::vector<int> ranks = members(c);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const harness::ImageLayout layout = layout_of(outcome, static_cast<int>(r));
    const spec::Block& block = layout.extents.send.front();
    inputs.emplace_back(spec::to_size(block.count) * bytes_of(c));
    fill_block(c, ranks[r], 0, block, inputs.back().data());
  }
  return inputs;
}

/// Replaces every output of a reduction by fold(inputs).
void fold_again(const Outcome& outcome, double (*fold)(const std::vector<double>& inputs)) {
  for_each_output(outcome, [&](int, std::int64_t index, std::byte* element) {
    numerics::from_double(outcome.c().type, fold(contributions(outcome, index)), element);
  });
}

}  // namespace

bool edits_results(const Bug& bug) {
  return bug.edit_result != nullptr || bug.edit_element != nullptr || bug.unwritten != nullptr ||
         bug.map != nullptr || bug.fold != nullptr;
}

void apply(const Bug& bug, const Outcome& outcome) {
  if (bug.edit_result != nullptr) bug.edit_result(outcome);
  if (bug.edit_element != nullptr) {
    for_each_output(outcome, [&](int rank, std::int64_t index, std::byte* element) {
      bug.edit_element(outcome, rank, index, element);
    });
  }
  if (bug.unwritten != nullptr) {
    leave_unwritten_where(
        outcome, [&](int rank, std::int64_t index) { return bug.unwritten(outcome, rank, index); });
  }
  if (bug.fold != nullptr) fold_again(outcome, bug.fold);
  if (bug.map != nullptr) {
    const spec::Type component = spec::component(outcome.c().type);
    map_values(outcome, [&](double value) { return bug.map(value, component); });
  }
}

harness::ImageLayout layout_of(const Outcome& outcome, int rank) {
  harness::ImageLayout layout;
  const Case& c = outcome.c();
  lay_out(reference::contract_named(c.operation), c, rank, harness::ResultPlace::own_block, layout);
  return layout;
}

void for_each_output(
    const Outcome& outcome,
    const std::function<void(int rank, std::int64_t index, std::byte* element)>& visit) {
  const std::int64_t bytes = spec::info(outcome.c().type).bytes;
  for (int r = 0; r < group_size(outcome.c()); ++r) {
    const harness::ImageLayout layout = layout_of(outcome, r);
    std::byte* image = outcome.images()[spec::to_size(r)].data();
    for (const spec::Block& block : layout.extents.recv) {
      for (std::int64_t i = block.offset; i < block.offset + block.count; ++i) {
        visit(r, i, image + layout.recv + i * layout.extents.recv_stride * bytes);
      }
    }
  }
}

void flip_first(const Outcome& outcome, int rank) {
  bool done = false;
  for_each_output(outcome, [&](int r, std::int64_t, std::byte* element) {
    if (r != rank || done) return;
    *element ^= std::byte{1};
    done = true;
  });
}

void flip_first_of_all(const Outcome& outcome) {
  for (int r = 0; r < group_size(outcome.c()); ++r) flip_first(outcome, r);
}

void flip_last_of_all(const Outcome& outcome) {
  std::vector<std::byte*> last(outcome.images().size(), nullptr);
  for_each_output(
      outcome, [&](int r, std::int64_t, std::byte* element) { last[spec::to_size(r)] = element; });
  for (std::byte* element : last) {
    if (element != nullptr) *element ^= std::byte{1};
  }
}

void map_values(const Outcome& outcome, const std::function<double(double value)>& map) {
  const spec::Type component = spec::component(outcome.c().type);
  const std::int64_t bytes = spec::info(component).bytes;
  const std::int64_t parts = spec::info(outcome.c().type).bytes / bytes;
  for_each_output(outcome, [&](int, std::int64_t, std::byte* element) {
    for (std::int64_t part = 0; part < parts; ++part) {
      std::byte* at = element + part * bytes;
      const double value = numerics::to_double(component, at);
      const double mapped = map(value);
      // Unchanged values keep their bits, including the payload of a NaN.
      if (mapped != value && !(mapped != mapped && value != value)) {
        numerics::from_double(component, mapped, at);
      }
    }
  });
}

void take_outputs(const Outcome& outcome, const std::vector<harness::Image>& images) {
  for_each_output(outcome, [&](int rank, std::int64_t, std::byte* element) {
    const auto r = spec::to_size(rank);
    const harness::Image& own = outcome.images()[r];
    if (r >= images.size() || images[r].size() != own.size()) return;
    std::copy_n(images[r].data() + (element - own.data()), bytes_of(outcome.c()), element);
  });
}

void write_behind_blocks(const Outcome& outcome) {
  for (int r = 0; r < group_size(outcome.c()); ++r) {
    const harness::ImageLayout layout = layout_of(outcome, r);
    const spec::Block& last = layout.extents.recv.back();
    const std::size_t at = spec::to_size(last.offset + last.count) * bytes_of(outcome.c());
    outcome.images()[spec::to_size(r)][spec::to_size(layout.recv) + at] ^= std::byte{1};
  }
}

void leave_unwritten(const Outcome& outcome, int rank, std::byte* element, std::int64_t bytes) {
  const auto r = spec::to_size(rank);
  const harness::ImageLayout layout = layout_of(outcome, rank);
  harness::Image poison(spec::to_size(layout.size));
  const int world_rank = members(outcome.c())[r];
  const harness::Family& family =
      harness::family_of(reference::contract_named(outcome.c().operation));
  harness::fill_poison(
      outcome.c(), world_rank, family.poison_bits(outcome.c()), poison.data(), layout.size);
  const std::int64_t at = element - outcome.images()[r].data();
  std::copy_n(poison.data() + at, bytes, element);
}

void leave_unwritten_where(const Outcome& outcome,
                           const std::function<bool(int rank, std::int64_t index)>& chosen) {
  const std::int64_t bytes = spec::info(outcome.c().type).bytes;
  for_each_output(outcome, [&](int rank, std::int64_t index, std::byte* element) {
    if (chosen(rank, index)) leave_unwritten(outcome, rank, element, bytes);
  });
}

std::vector<double> contributions(const Outcome& outcome, std::int64_t index) {
  const Case& c = outcome.c();
  std::vector<double> values;
  for (const harness::Image& input : inputs_of(outcome)) {
    values.push_back(
        numerics::to_double(c.type, input.data() + spec::to_size(index) * bytes_of(c)));
  }
  return values;
}

void reduce_again(const Outcome& outcome, const Redo& redo) {
  const Case& c = outcome.c();
  const std::vector<harness::Image> inputs = inputs_of(outcome);
  const std::vector<int> ranks = members(c);
  const bool premultiplies = collective(c).op == spec::ReduceOp::premul_sum;
  const std::size_t n = ranks.size();
  std::vector<harness::Image> scalars(n, harness::Image(bytes_of(c)));
  std::vector<gpu::Source> sources;
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t of = (r + spec::to_size(redo.scalar_of_next)) % n;
    if (premultiplies) fill_scalar(c, ranks[of], scalars[r].data());
    sources.push_back(
        {.data = inputs[r].data(), .scalar = premultiplies ? scalars[r].data() : nullptr});
  }
  const bool divides = collective(c).op == spec::ReduceOp::avg;
  harness::Image result(inputs.front().size());
  gpu::sim::combine({redo.type,
                     redo.op.value_or(collective(c).op),
                     result.data(),
                     sources,
                     static_cast<std::int64_t>(result.size() / bytes_of(c)),
                     divides ? static_cast<int>(n) : 1});
  for_each_output(outcome, [&](int, std::int64_t index, std::byte* element) {
    const std::byte* from = result.data() + spec::to_size(index) * bytes_of(c);
    std::copy_n(from, bytes_of(c), element);
  });
}

void locate_again(const Outcome& outcome, bool (*replaces)(double value, double best)) {
  const Case& c = outcome.c();
  const std::vector<harness::Image> inputs = inputs_of(outcome);
  const spec::Type component = spec::component(c.type);
  for_each_output(outcome, [&](int, std::int64_t index, std::byte* element) {
    const std::size_t at = spec::to_size(index) * bytes_of(c);
    const std::byte* best = inputs.front().data() + at;
    for (const harness::Image& each : inputs) {
      const std::byte* const pair = each.data() + at;
      if (replaces(numerics::to_double(component, pair), numerics::to_double(component, best)))
        best = pair;
    }
    std::copy_n(best, bytes_of(c), element);
  });
}

}  // namespace rankcheck::cases::audit
