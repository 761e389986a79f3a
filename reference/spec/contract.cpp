#include "reference/spec/contract.hpp"

#include <algorithm>
#include <limits>

#include "reference/spec/share.hpp"

namespace rankcheck::spec {

namespace {

/// Maximum number of elements of a buffer; offsets in bytes then never overflow.
constexpr std::int64_t buffer_elements_max = std::int64_t{1} << 48;

std::optional<std::string> why_sizes_invalid(const Contract& contract, const Call& call) {
  const auto n = static_cast<std::size_t>(call.ranks);
  const bool uneven =
      contract.sizes == Sizes::counts_per_rank || contract.sizes == Sizes::counts_per_pair;
  const bool per_rank = contract.sizes == Sizes::counts_per_rank || contract.sizes == Sizes::scene;
  const std::size_t expected =
      contract.sizes == Sizes::counts_per_pair ? n * n : (per_rank ? n : std::size_t{0});
  if (call.counts.size() != expected) {
    return "counts: expected " + std::to_string(expected) + " values, got " +
           std::to_string(call.counts.size());
  }
  if (contract.sizes != Sizes::count && call.count != 0) {
    return "count: not a size of this operation";
  }
  if (call.count < 0) return "count: out of range, got " + std::to_string(call.count);
  if (const auto most = buffer_elements_max / call.ranks; call.count > most) {
    return "count: expected at most " + std::to_string(most) + ", got " +
           std::to_string(call.count);
  }
  std::int64_t total = 0;
  for (const std::int64_t count : call.counts) {
    if (count < 0) return "counts: expected no negative value, got " + std::to_string(count);
    total += std::min(count, buffer_elements_max);
    if (total > buffer_elements_max) return "counts: their sum is too large";
  }
  const std::int64_t gap_max = uneven ? buffer_elements_max / call.ranks / call.ranks : 0;
  if (call.gap < 0 || call.gap > gap_max) {
    return "gap: out of range, got " + std::to_string(call.gap);
  }
  return std::nullopt;
}

/// Maximum sizes of a scene; products of sizes then never overflow.
constexpr std::int64_t scene_size_max = std::int64_t{1} << 14;
constexpr std::int64_t scene_layers_max = std::int64_t{1} << 8;

std::optional<std::string> why_free_space_invalid(const Contract& contract, const Scene& scene) {
  constexpr double wavelength_max = 1 << 10;
  constexpr double distance_max = 1 << 20;
  if (!contract.in_free_space && scene.slices == 1) {
    if (scene.wavelength == 0 && scene.distance == 0) return std::nullopt;
    return contract.multislice ? "wavelength, distance: one slice has no free space behind it"
                               : "wavelength, distance: this operation has no free space";
  }
  if (!(scene.wavelength >= 1 / wavelength_max && scene.wavelength <= wavelength_max)) {
    return "wavelength: expected 1/1024..1024, got " + std::to_string(scene.wavelength);
  }
  if (!(scene.distance >= -distance_max && scene.distance <= distance_max)) {
    return "distance: out of range, got " + std::to_string(scene.distance);
  }
  return std::nullopt;
}

std::optional<std::string> why_scene_invalid(const Contract& contract, const Call& call) {
  const Scene& scene = call.scene;
  if (contract.sizes != Sizes::scene) {
    if (scene == Scene{}) return std::nullopt;
    return "rows, cols, window, detector, modes, slices, varying_probe, tile_cols, halo, "
           "wavelength, distance: no sizes of this operation";
  }
  if (call.type != Type::f32 && call.type != Type::f64) {
    return "type: expected f32 or f64, got " + std::string(name(call.type));
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
    return std::string(size.name) + ": expected " + std::to_string(size.least) + ".." +
           std::to_string(size.most) + ", got " + std::to_string(size.value);
  }
  if (scene.varying_probe && contract.shares_probe) {
    return "varying_probe: all positions share the probe of this operation";
  }
  if (scene.slices > 1 && !contract.multislice) {
    return "slices: this operation has one, got " + std::to_string(scene.slices);
  }
  if ((scene.tile_cols != 1 || scene.halo != 0) && !contract.tiled) {
    return "tile_cols, halo: this operation has no tiles";
  }
  return why_free_space_invalid(contract, scene);
}

std::int64_t append_arrays(std::vector<Block>& out,
                           const std::vector<Array>& arrays,
                           const Call& call,
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

std::optional<std::string> why_invalid(const Contract& contract, const Call& call) {
  if (call.ranks < 1) return "ranks: expected at least 1, got " + std::to_string(call.ranks);
  if (call.root < 0 || call.root >= call.ranks || (!contract.rooted && call.root != 0)) {
    const int last = contract.rooted ? call.ranks - 1 : 0;
    return "root: expected 0.." + std::to_string(last) + ", got " + std::to_string(call.root);
  }
  if (contract.reduces != (call.op != ReduceOp::none)) {
    return contract.reduces
               ? "op: expected one, got none"
               : "op: this operation does not reduce, got " + std::string(name(call.op));
  }
  if (!is_defined(call.op, call.type)) {
    return "op: " + std::string(name(call.op)) + " is not defined for type " +
           std::string(name(call.type));
  }
  if (auto why = why_sizes_invalid(contract, call)) return why;
  return why_scene_invalid(contract, call);
}

void fill_extents(const Contract& contract, const Call& call, int rank, Extents& extents) {
  if (contract.sizes != Sizes::scene) {
    contract.extents(call, rank, extents);
    return;
  }
  extents.send_size = append_arrays(extents.send, contract.inputs, call, rank);
  extents.recv_size = append_arrays(extents.recv, contract.outputs, call, rank);
}

Extents extents_of(const Contract& contract, const Call& call, int rank) {
  Extents extents;
  fill_extents(contract, call, rank, extents);
  return extents;
}

std::int64_t append_even(std::vector<Block>& out, int blocks, std::int64_t count) {
  for (int b = 0; b < blocks; ++b) out.push_back({b * count, count});
  return blocks * count;
}

std::int64_t append_uneven(
    std::vector<Block>& out, const Call& call, int first, int stride, int n) {
  std::int64_t offset = 0;
  for (int i = 0; i < n; ++i) {
    const std::int64_t count = call.counts[static_cast<std::size_t>(first + i * stride)];
    out.push_back({offset, count});
    offset += count + call.gap;
  }
  return offset;
}

}  // namespace rankcheck::spec
