#include "reference/spec/operator.hpp"

#include "reference/spec/share.hpp"
#include "reference/spec/sizes.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::spec {

namespace {

/// Maximum sizes of a scene; products of sizes then never overflow.
constexpr std::int64_t scene_size_max = std::int64_t{1} << 14;
constexpr std::int64_t scene_layers_max = std::int64_t{1} << 8;

std::optional<std::string> why_free_space_invalid(const OperatorTraits& traits,
                                                  const Scene& scene) {
  constexpr double wavelength_max = 1 << 10;
  constexpr double distance_max = 1 << 20;
  if (!traits.in_free_space && scene.slices == 1) {
    if (scene.wavelength == 0 && scene.distance == 0) return std::nullopt;
    return traits.multislice ? "wavelength, distance: one slice has no free space behind it"
                             : "wavelength, distance: this operation has no free space";
  }
  if (!(scene.wavelength >= 1 / wavelength_max && scene.wavelength <= wavelength_max)) {
    return "wavelength: got " + std::to_string(scene.wavelength) + ", expected 1/1024..1024";
  }
  if (!(scene.distance >= -distance_max && scene.distance <= distance_max)) {
    return "distance: out of range, got " + std::to_string(scene.distance);
  }
  return std::nullopt;
}

std::optional<std::string> why_scene_invalid(const OperatorTraits& traits,
                                             const OperatorCall& call) {
  const Scene& scene = call.scene;
  if (call.type != Type::f32 && call.type != Type::f64) {
    return "type: got " + std::string(name(call.type)) + ", expected f32 or f64";
  }
  struct Size {
    std::string_view name;
    std::int64_t value;
    std::int64_t least;
    std::int64_t most;
  };
  for (const Size& size : {Size{"window", scene.window, 1, scene_size_max},
                           Size{"rows", scene.rows, scene.window, scene_size_max},
                           Size{"cols", scene.cols, scene.window, scene_size_max},
                           Size{"detector", scene.detector, scene.window, scene_size_max},
                           Size{"modes", scene.modes, 1, scene_layers_max},
                           Size{"slices", scene.slices, 1, scene_layers_max},
                           Size{"tile_cols", scene.tile_cols, 1, call.ranks},
                           Size{"halo", scene.halo, 0, scene_size_max}}) {
    if (size.value >= size.least && size.value <= size.most) continue;
    return std::string(size.name) + ": got " + std::to_string(size.value) + ", expected " +
           std::to_string(size.least) + ".." + std::to_string(size.most);
  }
  if (scene.varying_probe && traits.shares_probe) {
    return "varying_probe: all positions share the probe of this operation";
  }
  if (scene.slices > 1 && !traits.multislice) {
    return "slices: got " + std::to_string(scene.slices) + ", this operation has one";
  }
  if ((scene.tile_cols != 1 || scene.halo != 0) && !traits.tiled) {
    return "tile_cols, halo: this operation has no tiles";
  }
  return why_free_space_invalid(traits, scene);
}

std::int64_t append_arrays(std::vector<Block>& out,
                           const std::vector<Array>& arrays,
                           const OperatorCall& call,
                           int rank) {
  std::int64_t offset = 0;
  for (const Array array : arrays) {
    const Part part = part_of(call.scene, call.counts, array, rank);
    const std::int64_t parts = info(array).is_complex ? 2 : 1;
    out.push_back({.offset = offset,
                   .count = part.count * parts,
                   .array = array,
                   .first = part.first * parts});
    offset += out.back().count + array_gap;
  }
  return offset;
}

}  // namespace

std::optional<std::string> why_invalid(const Contract& contract, const OperatorCall& call) {
  if (call.ranks < 1) return "ranks: got " + std::to_string(call.ranks) + ", expected at least 1";
  const auto ranks = to_size(call.ranks);
  if (auto why = why_counts_invalid(call.counts, ranks)) return why;
  return why_scene_invalid(ptycho(contract), call);
}

void fill_extents(const Contract& contract, const OperatorCall& call, int rank, Extents& extents) {
  const OperatorTraits& traits = ptycho(contract);
  extents.send_size = append_arrays(extents.send, traits.inputs, call, rank);
  extents.recv_size = append_arrays(extents.recv, traits.outputs, call, rank);
}

Extents extents_of(const Contract& contract, const OperatorCall& call, int rank) {
  Extents extents;
  fill_extents(contract, call, rank, extents);
  return extents;
}

}  // namespace rankcheck::spec
