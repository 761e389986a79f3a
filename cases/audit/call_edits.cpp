#include "cases/audit/call_edits.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::audit {

using spec::Array;

bool edits_calls(const Bug& bug) {
  return bug.replace_call != nullptr || bug.edit_scene != nullptr ||
         bug.edit_input.edit != nullptr || bug.make_transform != nullptr ||
         bug.make_collective != nullptr || bug.edit_sum.edit != nullptr ||
         bug.edit_output.edit != nullptr;
}

void run(const Bug& bug, InterceptedCall& intercepted) {
  if (bug.replace_call != nullptr) return bug.replace_call(intercepted);
  const auto edited_by = [&](const EditArray& edit) {
    return [&](Values& values, int rank) { edit.edit(intercepted, values, rank); };
  };
  if (bug.edit_scene != nullptr) bug.edit_scene(intercepted.scene());
  if (bug.edit_input.edit != nullptr)
    intercepted.change_input(bug.edit_input.array, edited_by(bug.edit_input));
  if (bug.make_transform != nullptr) {
    intercepted.devices().on_transform = [&](TransformCall& call) {
      bug.make_transform(intercepted, call);
    };
  }
  intercepted.devices().on_collective = [&](CollectiveCall& call) {
    if (bug.make_collective != nullptr) return bug.make_collective(intercepted, call);
    call.make();
    const bool is_edited = bug.edit_sum.edit != nullptr && bug.edit_sum.number == call.number;
    if (is_edited) bug.edit_sum.edit(intercepted, call);
  };
  intercepted.run();
  if (bug.edit_output.edit != nullptr)
    intercepted.change_output(bug.edit_output.array, edited_by(bug.edit_output));
}

void average(const InterceptedCall&, const CollectiveCall& call) {
  call.scale(1.0 / call.call.ranks);
}

void add_for_every_position(const InterceptedCall& intercepted, const CollectiveCall& call) {
  call.scale(static_cast<double>(intercepted.positions()));
}

void repeat(const InterceptedCall&, const CollectiveCall& call) {
  call.repeat();
}

void transpose(const InterceptedCall&, Values& values, int) {
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) std::swap(values[i], values[i + 1]);
}

void take_first_mode(const InterceptedCall& intercepted, Values& values, int) {
  const spec::Scene& scene = intercepted.call().scene;
  const auto probe = spec::to_size(spec::values(scene, Array::probe));
  const std::size_t mode = probe / spec::to_size(scene.modes);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = values[i - i % probe + i % mode];
}

void unmask(const InterceptedCall&, Values& values, int) {
  std::fill(values.begin(), values.end(), 1);
}

}  // namespace rankcheck::cases::audit
