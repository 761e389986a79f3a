#include "cases/families/ptycho/shapes.hpp"

namespace rankcheck::cases {

std::vector<Dimension> dimensions_of(const spec::Scene& scene, spec::Array array) {
  const Dimension slices{"slices", scene.slices};
  const Dimension rows{"rows", scene.rows};
  const Dimension cols{"cols", scene.cols};
  const Dimension modes{"modes", scene.modes};
  const Dimension window{"window", scene.window};
  const Dimension detector{"detector", scene.detector};
  switch (array) {
    case spec::Array::object:
    case spec::Array::object_gradient:
    case spec::Array::object_direction:
      return {slices, rows, cols};
    case spec::Array::probe:
    case spec::Array::probe_gradient:
    case spec::Array::probe_direction:
      return {modes, window, window};
    case spec::Array::positions:
    case spec::Array::shard_positions:
    case spec::Array::step_lengths:
      return {{.field = "", .length = 2}};
    case spec::Array::patches:
    case spec::Array::frames:
    case spec::Array::shard_frames:
    case spec::Array::mask:
      return {detector, detector};
    case spec::Array::waves:
    case spec::Array::far_waves:
    case spec::Array::exit_waves:
      return {modes, detector, detector};
    case spec::Array::object_weight:
      return {rows, cols};
    case spec::Array::probe_weight:
    case spec::Array::windows:
      return {window, window};
    case spec::Array::none:
    case spec::Array::cost:
    case spec::Array::owners:
    case spec::Array::tile:
      return {};
  }
  return {};
}

std::vector<std::int64_t> shape_of(const spec::Scene& scene,
                                   spec::Array array,
                                   std::int64_t count) {
  std::vector<std::int64_t> shape;
  std::int64_t copy = 1;
  for (const Dimension& each : dimensions_of(scene, array)) {
    shape.push_back(each.length);
    copy *= each.length;
  }
  if (copy == 0 || count % copy != 0) return {count};
  if (shape.empty() || is_per_position(scene, array) || count != copy) {
    shape.insert(shape.begin(), count / copy);
  }
  return shape;
}

}  // namespace rankcheck::cases
