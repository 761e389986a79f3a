#include "gpu/ptycho/passes/batched_passes.hpp"

#include <algorithm>

#include "gpu/device/launch/launch.hpp"
#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/kernels/window.hpp"

namespace rankcheck::gpu {

namespace {

/// Extracts patches of the object. A row of this kernel is a row of a batch's window. With
/// `inside`, it processes the rows that need no pixel outside the object. Without it, it processes
/// the other rows, which need more care.
template <class T, bool inside>
struct ExtractPatches {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    Window<T> window;
    std::int64_t p;
    /// The object's rows under the window's row and below it.
    const Complex<T>* upper;
    const Complex<T>* lower;
    Complex<T>* out;
  };

  ObjectView<T> object;
  const T* positions;
  Complex<T>* patches;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t p = r % width;
    const Window<T> window(positions + 2 * (r / width));
    const std::int64_t top = window.row + p;
    const bool is_inside =
        top >= 0 && top + 1 < object.rows && window.col >= 0 && window.col + width < object.cols;
    const Complex<T>* upper =
        is_inside ? object.values + top * object.cols + window.col : object.values;
    return {.first = 0,
            .end = is_inside == inside ? width : 0,
            .window = window,
            .p = p,
            .upper = upper,
            .lower = upper + object.cols,
            .out = patches + r * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t q) const {
    if constexpr (inside) {
      row.out[q] = row.window.w00 * row.upper[q] + row.window.w01 * row.upper[q + 1] +
                   row.window.w10 * row.lower[q] + row.window.w11 * row.lower[q + 1];
    } else {
      row.out[q] = object.at(row.window, row.p, q);
    }
  }
};

/// Multiplies the waves at a slice by the slice's patch, or by its conjugate. A row of this kernel
/// is a row of one position's window, in one mode.
template <class T, bool conjugated>
struct TimesPatch {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    const Complex<T>* patch;
    const Complex<T>* in;
    Complex<T>* out;
  };

  const Complex<T>* patches;
  const Complex<T>* in;
  FrameLayout in_frames;
  /// True if `in` belongs to one position and serves all.
  bool in_shared;
  Complex<T>* out;
  FrameLayout out_frames;
  std::int64_t modes;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t p = r % width;
    const std::int64_t layer = r / width;
    return {.first = 0,
            .end = width,
            .patch = patches + (layer / modes * width + p) * width,
            .in = in + in_frames.row(in_shared ? layer % modes : layer, p),
            .out = out + out_frames.row(layer, p)};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    row.out[c] = (conjugated ? conj(row.patch[c]) : row.patch[c]) * row.in[c];
  }
};

/// Computes the contribution of one mode to the object under a window: conj(waves that reached the
/// slice) times the waves that came back. A row of this kernel is a row of a window.
template <class T>
struct ShareObject {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    const Complex<T>* waves;
    const Complex<T>* incident;
    Complex<T>* out;
  };

  /// The mode's waves of the first position.
  const Complex<T>* waves;
  FrameLayout frames;
  const Complex<T>* incident;
  /// True if `incident` belongs to one position and serves all.
  bool shared;
  /// Each window has a border of one pixel.
  Complex<T>* shares;
  std::int64_t modes;
  std::int64_t width;
  bool overwrites;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t n = r / width;
    const std::int64_t p = r % width;
    return {.first = 0,
            .end = width,
            .waves = waves + frames.row(n * modes, p),
            .incident = incident + ((shared ? 0 : n * modes) * width + p) * width,
            .out = shares + FrameLayout{.width = width + 2, .margin = 1}.row(n, p)};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    const Complex<T> share = conj(row.incident[c]) * row.waves[c];
    row.out[c] = overwrites ? share : row.out[c] + share;
  }
};

/// Adds one window's share to the object. A row of this kernel is a row of the object under the
/// window. It processes one position at a time, so that the order of the sums is the order of the
/// positions.
template <class T, class Value>
struct AddShare {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    const Value* above;
    const Value* below;
    /// The index in the object of column 0 of the window's row. It may be outside the row if the
    /// window extends beyond the object.
    std::int64_t out;
    Window<T> window;
  };

  const T* position;
  /// The share of this position, with its border.
  const Value* share;
  Value* object;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const Window<T> window(position);
    const std::int64_t line = window.row + r;
    const bool exists = line >= 0 && line < rows;
    const std::int64_t first = window.col < 0 ? -window.col : 0;
    const std::int64_t end = window.col + width < cols ? width + 1 : cols - window.col;
    return {.first = first,
            .end = exists ? end : first,
            .above = share + r * (width + 2),
            .below = share + (r + 1) * (width + 2),
            .out = line * cols + window.col,
            .window = window};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    object[row.out + c] += row.window.w00 * row.below[c + 1] + row.window.w01 * row.below[c] +
                           row.window.w10 * row.above[c + 1] + row.window.w11 * row.above[c];
  }
};

/// Computes the contribution of one mode of one position's probe to the light. A row of this kernel
/// is a row of a window.
template <class T>
struct ShareLight {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    const Complex<T>* probe;
    T* out;
  };

  const Complex<T>* probe;
  /// The window has a border of one pixel.
  T* light;
  std::int64_t width;
  bool overwrites;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    return {.first = 0,
            .end = width,
            .probe = probe + r * width,
            .out = light + FrameLayout{.width = width + 2, .margin = 1}.row(0, r)};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    const T share = norm(row.probe[c]);
    row.out[c] = overwrites ? share : row.out[c] + share;
  }
};

/// Adds the contribution of one position's patch to one pixel of the window.
template <class T>
struct AddMagnitude {
  const Complex<T>* patch;
  T* weight;

  RANKCHECK_HD void operator()(std::int64_t i) const { weight[i] += norm(patch[i]); }
};

/// Adds the contribution of one position to the probe. A row of this kernel is a row of a mode of
/// the probe.
template <class T>
struct AddToProbe {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    const Complex<T>* waves;
    const Complex<T>* patch;
    Complex<T>* out;
  };

  /// The waves of this position.
  const Complex<T>* waves;
  FrameLayout frames;
  const Complex<T>* patch;
  Complex<T>* probe;
  std::int64_t width;
  bool overwrites;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t p = r % width;
    return {.first = 0,
            .end = width,
            .waves = waves + frames.row(r / width, p),
            .patch = patch + p * width,
            .out = probe + r * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    const Complex<T> share = conj(row.patch[c]) * row.waves[c];
    row.out[c] = overwrites ? share : row.out[c] + share;
  }
};

[[nodiscard]] FrameLayout frames_of(const spec::Scene& scene) {
  return {.width = scene.detector, .margin = spec::margin(scene)};
}

[[nodiscard]] FrameLayout windows_of(const spec::Scene& scene) {
  return {.width = scene.window, .margin = 0};
}

}  // namespace

template <class T>
std::int64_t BatchedPasses<T>::batch_in_cache(const spec::Scene& scene) {
  constexpr std::int64_t bytes = std::int64_t{1} << 18;
  const std::int64_t waves = spec::values(scene, spec::Array::waves) * scene.slices;
  return std::max<std::int64_t>(1, bytes / (waves * static_cast<std::int64_t>(sizeof(Complex<T>))));
}

template <class T>
typename BatchedPasses<T>::Scratch& BatchedPasses<T>::scratch(int rank) {
  const auto [found, is_new] = scratch_.try_emplace(rank);
  Scratch& memory = found->second;
  if (!is_new) return memory;
  const auto allocate = [&](std::int64_t values) {
    return cluster_.allocate_array<Complex<T>>(rank, values);
  };
  const std::int64_t bordered = batch_max_ * (scene_.window + 2) * std::int64_t{scene_.window + 2};
  memory.patches = allocate(scene_.slices * batch_max_ * pixels());
  memory.shares = allocate(bordered);
  fill(cluster_, rank, bordered, memory.shares, Complex<T>{});
  if (scene_.slices == 1) return memory;
  const std::int64_t waves = batch_max_ * scene_.modes * pixels();
  memory.incident = allocate((scene_.slices - 1) * waves);
  memory.returned = allocate(waves);
  memory.space.emplace(cluster_, rank, scene_.window, scene_);
  return memory;
}

template <class T>
Complex<T>* BatchedPasses<T>::patches(const Scratch& memory, int slice) const {
  return memory.patches + slice * batch_max_ * pixels();
}

template <class T>
Complex<T>* BatchedPasses<T>::behind(const Scratch& memory, int slice) const {
  return memory.incident + slice * batch_max_ * scene_.modes * pixels();
}

template <class T>
typename BatchedPasses<T>::Incident BatchedPasses<T>::incident(const Scratch& memory,
                                                               const ScanShare<T>& scan,
                                                               Batch batch,
                                                               int slice) const {
  if (slice > 0) return {.waves = behind(memory, slice - 1), .shared = false};
  const std::int64_t own = scene_.varying_probe ? batch.first * scene_.modes * pixels() : 0;
  return {.waves = scan.probe + own, .shared = !scene_.varying_probe};
}

template <class T>
void BatchedPasses<T>::extract(int rank, const ScanShare<T>& scan, Batch batch, int slice) {
  const std::int64_t rows = batch.count * scene_.window;
  const auto extract_with = [&]<bool inside>() {
    launch_rows(
        cluster_,
        rank,
        rows,
        ExtractPatches<T, inside>{
            .object = {scene_, scan.object + std::int64_t{slice} * scene_.rows * scene_.cols},
            .positions = scan.positions + 2 * batch.first,
            .patches = patches(scratch(rank), slice),
            .width = scene_.window});
  };
  extract_with.template operator()<true>();
  extract_with.template operator()<false>();
}

template <class T>
void BatchedPasses<T>::forward(int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves) {
  const Scratch& memory = scratch(rank);
  const std::int64_t width = scene_.window;
  const std::int64_t layers = batch.count * scene_.modes;
  if (scene_.detector > scene_.window && waves != nullptr) {
    const std::int64_t frame = std::int64_t{scene_.detector} * scene_.detector;
    fill(cluster_, rank, layers * frame, waves, Complex<T>{});
  }
  for (int slice = 0; slice < scene_.slices; ++slice) {
    extract(rank, scan, batch, slice);
    const bool is_last = slice + 1 == scene_.slices;
    if (scan.probe == nullptr || (is_last && waves == nullptr)) continue;
    const Incident in = incident(memory, scan, batch, slice);
    Complex<T>* const out = is_last ? waves : behind(memory, slice);
    launch_rows(cluster_,
                rank,
                layers * width,
                TimesPatch<T, false>{.patches = patches(memory, slice),
                                     .in = in.waves,
                                     .in_frames = windows_of(scene_),
                                     .in_shared = in.shared,
                                     .out = out,
                                     .out_frames = is_last ? frames_of(scene_) : windows_of(scene_),
                                     .modes = scene_.modes,
                                     .width = width});
    if (!is_last) memory.space->run(layers, false, out, out);
  }
}

template <class T>
void BatchedPasses<T>::add_share(int rank,
                                 const ScanShare<T>& scan,
                                 Batch batch,
                                 int slice,
                                 FrameLayout frames,
                                 const Complex<T>* waves,
                                 Complex<T>* object) {
  const Scratch& memory = scratch(rank);
  const std::int64_t width = scene_.window;
  const Incident in = incident(memory, scan, batch, slice);
  for (int mode = 0; mode < scene_.modes; ++mode) {
    launch_rows(cluster_,
                rank,
                batch.count * width,
                ShareObject<T>{.waves = waves + mode * frames.width * frames.width,
                               .frames = frames,
                               .incident = in.waves + mode * pixels(),
                               .shared = in.shared,
                               .shares = memory.shares,
                               .modes = scene_.modes,
                               .width = width,
                               .overwrites = mode == 0});
  }
  for (std::int64_t b = 0; b < batch.count; ++b) {
    launch_rows(
        cluster_,
        rank,
        width + 1,
        AddShare<T, Complex<T>>{.position = scan.positions + 2 * (batch.first + b),
                                .share = memory.shares + b * (width + 2) * (width + 2),
                                .object = object + std::int64_t{slice} * scene_.rows * scene_.cols,
                                .rows = scene_.rows,
                                .cols = scene_.cols,
                                .width = width});
  }
}

template <class T>
void BatchedPasses<T>::add_to_probe(
    int rank, Batch batch, FrameLayout frames, const Complex<T>* waves, Complex<T>* probe) {
  const Scratch& memory = scratch(rank);
  const std::int64_t of_position = scene_.modes * pixels();
  for (std::int64_t b = 0; b < batch.count; ++b) {
    launch_rows(
        cluster_,
        rank,
        scene_.modes * std::int64_t{scene_.window},
        AddToProbe<T>{.waves = waves + b * scene_.modes * frames.width * frames.width,
                      .frames = frames,
                      .patch = patches(memory, 0) + b * pixels(),
                      .probe = probe + (scene_.varying_probe ? batch.first + b : 0) * of_position,
                      .width = scene_.window,
                      .overwrites = scene_.varying_probe});
  }
}

template <class T>
void BatchedPasses<T>::backward(int rank,
                                const ScanShare<T>& scan,
                                Batch batch,
                                const Complex<T>* waves,
                                Complex<T>* object,
                                Complex<T>* probe) {
  const Scratch& memory = scratch(rank);
  FrameLayout frames = frames_of(scene_);
  for (int slice = scene_.slices - 1; slice >= 0; --slice) {
    if (object != nullptr) add_share(rank, scan, batch, slice, frames, waves, object);
    if (slice == 0) break;
    const std::int64_t layers = batch.count * scene_.modes;
    launch_rows(cluster_,
                rank,
                layers * scene_.window,
                TimesPatch<T, true>{.patches = patches(memory, slice),
                                    .in = waves,
                                    .in_frames = frames,
                                    .in_shared = false,
                                    .out = memory.returned,
                                    .out_frames = windows_of(scene_),
                                    .modes = scene_.modes,
                                    .width = scene_.window});
    memory.space->run(layers, true, memory.returned, memory.returned);
    waves = memory.returned;
    frames = windows_of(scene_);
  }
  if (probe != nullptr) add_to_probe(rank, batch, frames, waves, probe);
}

template <class T>
void BatchedPasses<T>::weigh(
    int rank, const ScanShare<T>& scan, Batch batch, T* object_weight, T* probe_weight) {
  Scratch& memory = scratch(rank);
  const std::int64_t width = scene_.window;
  const std::int64_t bordered = (width + 2) * (width + 2);
  if (memory.light == nullptr) {
    memory.light = cluster_.allocate_array<T>(rank, bordered);
    fill(cluster_, rank, bordered, memory.light, T{0});
  }
  for (std::int64_t n = batch.first; n < batch.first + batch.count; ++n) {
    if (probe_weight != nullptr) {
      launch(cluster_,
             rank,
             pixels(),
             AddMagnitude<T>{patches(memory, 0) + (n - batch.first) * pixels(), probe_weight});
    }
    if (object_weight == nullptr) continue;
    // The light of a shared probe is the same for all positions, so it is computed once.
    const bool is_known = !scene_.varying_probe && n > 0;
    const std::int64_t own = scene_.varying_probe ? n : 0;
    for (std::int64_t mode = 0; mode < scene_.modes && !is_known; ++mode) {
      launch_rows(cluster_,
                  rank,
                  width,
                  ShareLight<T>{.probe = scan.probe + (own * scene_.modes + mode) * pixels(),
                                .light = memory.light,
                                .width = width,
                                .overwrites = mode == 0});
    }
    launch_rows(cluster_,
                rank,
                width + 1,
                AddShare<T, T>{.position = scan.positions + 2 * n,
                               .share = memory.light,
                               .object = object_weight,
                               .rows = scene_.rows,
                               .cols = scene_.cols,
                               .width = width});
  }
}

template class BatchedPasses<float>;
template class BatchedPasses<double>;

}  // namespace rankcheck::gpu
