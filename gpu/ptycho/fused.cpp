#include "gpu/ptycho/fused.hpp"

#include <algorithm>
#include <utility>

#include "gpu/device/launch.hpp"
#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/gather.hpp"
#include "gpu/ptycho/window.hpp"

namespace rankcheck::gpu {

namespace {

/// Rows of frames: an array of frames is rows of `width` pixels, one behind the other.
template <class T>
struct IlluminateRows {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    Window<T> window;
    /// Of the window; outside of it above or below.
    std::int64_t p;
    /// Mode 0's row of the probe's window, and of the waves.
    const Complex<T>* probe;
    Complex<T>* out;
  };

  ObjectView<T> object;
  const Complex<T>* probe;
  bool varying_probe;
  const T* positions;
  Complex<T>* waves;
  std::int64_t modes;
  std::int64_t detector;
  std::int64_t width;
  std::int64_t margin;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t n = r / detector;
    const std::int64_t line = r % detector;
    const std::int64_t p = line - margin;
    const bool is_inside = p >= 0 && p < width;
    const std::int64_t of_position = varying_probe ? n * modes * width * width : 0;
    return {.first = 0,
            .end = detector,
            .window = Window<T>(positions + 2 * n),
            .p = is_inside ? p : -1,
            .probe = is_inside ? probe + of_position + p * width : probe,
            .out = waves + (n * modes * detector + line) * detector};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    const std::int64_t q = c - margin;
    const bool is_inside = row.p >= 0 && q >= 0 && q < width;
    const Complex<T> patch = is_inside ? object.at(row.window, row.p, q) : Complex<T>{};
    for (std::int64_t m = 0; m < modes; ++m) {
      row.out[m * detector * detector + c] =
          is_inside ? patch * row.probe[m * width * width + q] : Complex<T>{};
    }
  }
};

/// Pixels of a chunk that one thread takes, and threads that share a chunk: neighbours read
/// neighbouring pixels.
constexpr std::int64_t pixels_of_thread = 8;
constexpr std::int64_t threads_of_chunk = 32;
constexpr std::int64_t chunk_pixels = pixels_of_thread * threads_of_chunk;

/// A thread's share of a chunk of a frame: intensity, cost and far-plane gradient of its pixels.
template <class T, Noise noise>
struct ComparePixels {
  const Complex<T>* waves;
  Complex<T>* gradient;
  const T* frames;
  /// Null where every pixel is measured.
  const T* mask;
  double* costs;
  std::int64_t modes;
  std::int64_t frame;
  std::int64_t chunks_of_frame;
  T scale;
  T factor_scale;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t chunk = i / threads_of_chunk;
    const std::int64_t n = chunk / chunks_of_frame;
    const std::int64_t first = chunk % chunks_of_frame * chunk_pixels + i % threads_of_chunk;
    double cost = 0;
    for (std::int64_t k = 0; k < pixels_of_thread; ++k) {
      const std::int64_t pixel = first + k * threads_of_chunk;
      if (pixel < frame) cost += static_cast<double>(compare(n, pixel));
    }
    costs[i] = cost;
  }

  /// Writes the gradient of all modes and returns the cost.
  RANKCHECK_HD T compare(std::int64_t n, std::int64_t pixel) const {
    const std::int64_t at = n * modes * frame + pixel;
    T intensity = 0;
    for (std::int64_t m = 0; m < modes; ++m) intensity += norm(scale * waves[at + m * frame]);
    const bool is_measured = mask == nullptr || mask[pixel] != 0;
    const Pixel<T> seen = is_measured ? compare_pixel<noise>(intensity, frames[n * frame + pixel])
                                      : unmeasured_pixel<noise, T>();
    const T factor = seen.factor * factor_scale;
    for (std::int64_t m = 0; m < modes; ++m) {
      gradient[at + m * frame] = factor * waves[at + m * frame];
    }
    return seen.cost;
  }
};

/// The sums of chunks of numbers, each in order.
struct SumChunks {
  const double* values;
  double* sums;
  std::int64_t count;

  RANKCHECK_HD void operator()(std::int64_t chunk) const {
    const std::int64_t end = (chunk + 1) * sum_chunk < count ? (chunk + 1) * sum_chunk : count;
    double sum = 0;
    for (std::int64_t i = chunk * sum_chunk; i < end; ++i) sum += values[i];
    sums[chunk] = sum;
  }
};

/// A tile of the object: a block's threads have its columns.
constexpr std::int64_t tile_rows = 16;
constexpr std::int64_t tile_cols = 128;

struct ObjectTiles {
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  [[nodiscard]] RANKCHECK_HD std::int64_t across() const {
    return (cols + tile_cols - 1) / tile_cols;
  }
  [[nodiscard]] RANKCHECK_HD std::int64_t count() const {
    return (rows + tile_rows - 1) / tile_rows * across();
  }
};

/// A tile: the positions whose windows, a border of one pixel below and to the right included,
/// reach it, in order.
template <class T>
struct ListNear {
  const T* positions;
  std::int64_t count;
  std::int64_t width;
  ObjectTiles tiling;
  /// [tiles, count]
  std::int32_t* near;
  std::int32_t* counts;

  RANKCHECK_HD void operator()(std::int64_t tile) const {
    const std::int64_t row = tile / tiling.across() * tile_rows;
    const std::int64_t col = tile % tiling.across() * tile_cols;
    std::int32_t* const list = near + tile * count;
    std::int32_t found = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      const Window<T> window(positions + 2 * n);
      const bool reaches = window.row < row + tile_rows && window.row + width >= row &&
                           window.col < col + tile_cols && window.col + width >= col;
      if (reaches) list[found++] = static_cast<std::int32_t>(n);
    }
    counts[tile] = found;
  }
};

/// Positions whose share of a shared probe one thread adds up.
constexpr std::int64_t probe_group = 32;

/// Rows of the probe's modes, for each group of positions: what the group gives.
template <class T>
struct GatherProbe {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    std::int64_t begin_n;
    std::int64_t end_n;
    std::int64_t mode;
    std::int64_t p;
    Complex<T>* out;
  };

  ObjectView<T> object;
  const Complex<T>* waves;
  const T* positions;
  /// [groups, modes, width, width]
  Complex<T>* probe;
  std::int64_t count;
  /// Positions of a group.
  std::int64_t group;
  std::int64_t modes;
  Frames frames;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t begin = r / (modes * width) * group;
    return {.first = 0,
            .end = width,
            .begin_n = begin,
            .end_n = begin + group < count ? begin + group : count,
            .mode = r / width % modes,
            .p = r % width,
            .out = probe + r * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t q) const {
    Complex<T> sum;
    for (std::int64_t n = row.begin_n; n < row.end_n; ++n) {
      sum += conj(object.at(Window<T>(positions + 2 * n), row.p, q)) *
             waves[frames.row(n * modes + row.mode, row.p) + q];
    }
    row.out[q] = sum;
  }
};

/// Rows of the window, for each group of positions: the squares of the object under it.
template <class T>
struct GatherMagnitudes {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    std::int64_t begin_n;
    std::int64_t end_n;
    std::int64_t p;
    T* out;
  };

  ObjectView<T> object;
  const T* positions;
  /// [groups, width, width]
  T* weight;
  std::int64_t count;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t begin = r / width * probe_group;
    return {.first = 0,
            .end = width,
            .begin_n = begin,
            .end_n = begin + probe_group < count ? begin + probe_group : count,
            .p = r % width,
            .out = weight + r * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t q) const {
    T sum = 0;
    for (std::int64_t n = row.begin_n; n < row.end_n; ++n) {
      sum += norm(object.at(Window<T>(positions + 2 * n), row.p, q));
    }
    row.out[q] = sum;
  }
};

/// A value of the probe's size: adds what all groups gave.
template <class Value>
struct AddGroups {
  const Value* parts;
  Value* out;
  std::int64_t groups;
  std::int64_t size;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    Value sum{};
    for (std::int64_t g = 0; g < groups; ++g) sum += parts[g * size + i];
    out[i] += sum;
  }
};

}  // namespace

template <class T>
Fused<T>::Fused(Cluster& cluster, const spec::Scene& scene, std::int64_t batch_max)
    : cluster_(cluster),
      scene_(scene),
      batch_max_(batch_max),
      waves_(cluster),
      costs_(cluster),
      more_costs_(cluster),
      near_(cluster),
      near_counts_(cluster),
      probe_parts_(cluster),
      weight_parts_(cluster) {
  if (batch_max > 0) return;
  constexpr std::int64_t bytes = std::int64_t{1} << 28;
  batch_max_ = std::max<std::int64_t>(
      1, bytes / (wave_size() * static_cast<std::int64_t>(sizeof(Complex<T>))));
}

template <class T>
void Fused<T>::illuminate(int rank, const Exposure<T>& exposure, Batch batch, Complex<T>* waves) {
  launch_rows(cluster_,
              rank,
              batch.count * scene_.detector,
              IlluminateRows<T>{
                  .object = {.values = exposure.object, .rows = scene_.rows, .cols = scene_.cols},
                  .probe = exposure.probe + own_probe(batch),
                  .varying_probe = scene_.varying_probe,
                  .positions = exposure.positions + 2 * batch.first,
                  .waves = waves,
                  .modes = scene_.modes,
                  .detector = scene_.detector,
                  .width = scene_.window,
                  .margin = spec::margin(scene_)});
}

template <class T>
void Fused<T>::add_up(int rank, std::int64_t count, double* cost) {
  double* from = costs_.get(rank, 0);
  double* to = more_costs_.get(rank, chunks_of(count));
  while (count > sum_chunk) {
    launch(cluster_, rank, chunks_of(count), SumChunks{from, to, count});
    count = chunks_of(count);
    std::swap(from, to);
  }
  launch(cluster_, rank, 1, AddSum{from, cost, count});
}

template <class T>
void Fused<T>::compare(int rank,
                       Noise noise,
                       const Exposure<T>& exposure,
                       Batch batch,
                       T scale,
                       T factor_scale,
                       const Complex<T>* waves,
                       Complex<T>* gradient,
                       double* cost) {
  const std::int64_t frame = spec::values(scene_, spec::Array::frames);
  const std::int64_t chunks = (frame + chunk_pixels - 1) / chunk_pixels;
  const std::int64_t threads = batch.count * chunks * threads_of_chunk;
  double* const costs = costs_.get(rank, threads);
  const auto compare_with = [&]<Noise kind>() {
    launch(cluster_,
           rank,
           threads,
           ComparePixels<T, kind>{.waves = waves,
                                  .gradient = gradient,
                                  .frames = exposure.frames + batch.first * frame,
                                  .mask = exposure.mask,
                                  .costs = costs,
                                  .modes = scene_.modes,
                                  .frame = frame,
                                  .chunks_of_frame = chunks,
                                  .scale = scale,
                                  .factor_scale = factor_scale});
  };
  with_noise(noise, compare_with);
  add_up(rank, threads, cost);
}

template <class T>
template <class Value, class Share>
void Fused<T>::add_windows(
    int rank, const T* positions, Batch batch, const Share& share, Value* object) {
  const ObjectTiles tiling{.rows = scene_.rows, .cols = scene_.cols};
  std::int32_t* const near = near_.get(rank, tiling.count() * batch.count);
  std::int32_t* const counts = near_counts_.get(rank, tiling.count());
  const T* const of_batch = positions + 2 * batch.first;
  launch(cluster_,
         rank,
         tiling.count(),
         ListNear<T>{.positions = of_batch,
                     .count = batch.count,
                     .width = scene_.window,
                     .tiling = tiling,
                     .near = near,
                     .counts = counts});
  launch_sums(
      cluster_,
      rank,
      tiling.rows * tiling.across(),
      Gather<T, Value, Share>{
          .share = share,
          .positions = of_batch,
          .count = batch.count,
          .object = object,
          .cols = scene_.cols,
          .width = scene_.window,
          .lists = {
              .tile_rows = tile_rows, .tile_cols = tile_cols, .near = near, .counts = counts}});
}

template <class T>
void Fused<T>::add_to_object(int rank,
                             const Exposure<T>& exposure,
                             Batch batch,
                             const Complex<T>* waves,
                             Complex<T>* object) {
  const Complex<T>* const probe = exposure.probe + own_probe(batch);
  add_windows(
      rank, exposure.positions, batch, ConjugateTimesWaves<T>(scene_, probe, waves), object);
}

template <class T>
void Fused<T>::add_light(int rank, const Exposure<T>& exposure, Batch batch, T* object_weight) {
  add_windows(rank,
              exposure.positions,
              batch,
              ProbeLight<T>{.probe = exposure.probe + own_probe(batch),
                            .width = scene_.window,
                            .modes = scene_.modes,
                            .varying_probe = scene_.varying_probe},
              object_weight);
}

template <class T>
void Fused<T>::add_magnitudes(int rank, const Exposure<T>& exposure, Batch batch, T* probe_weight) {
  const std::int64_t size = std::int64_t{scene_.window} * scene_.window;
  const std::int64_t groups = (batch.count + probe_group - 1) / probe_group;
  T* const parts = weight_parts_.get(rank, groups * size);
  launch_rows(cluster_,
              rank,
              groups * scene_.window,
              GatherMagnitudes<T>{
                  .object = {.values = exposure.object, .rows = scene_.rows, .cols = scene_.cols},
                  .positions = exposure.positions + 2 * batch.first,
                  .weight = parts,
                  .count = batch.count,
                  .width = scene_.window});
  launch(cluster_, rank, size, AddGroups<T>{parts, probe_weight, groups, size});
}

template <class T>
void Fused<T>::add_to_probe(int rank,
                            const Exposure<T>& exposure,
                            Batch batch,
                            const Complex<T>* waves,
                            Complex<T>* probe) {
  const std::int64_t size = std::int64_t{scene_.modes} * scene_.window * scene_.window;
  const std::int64_t group = scene_.varying_probe ? 1 : probe_group;
  const std::int64_t groups = (batch.count + group - 1) / group;
  Complex<T>* const parts =
      scene_.varying_probe ? probe + batch.first * size : probe_parts_.get(rank, groups * size);
  launch_rows(cluster_,
              rank,
              groups * scene_.modes * scene_.window,
              GatherProbe<T>{
                  .object = {.values = exposure.object, .rows = scene_.rows, .cols = scene_.cols},
                  .waves = waves,
                  .positions = exposure.positions + 2 * batch.first,
                  .probe = parts,
                  .count = batch.count,
                  .group = group,
                  .modes = scene_.modes,
                  .frames = {.width = scene_.detector, .margin = spec::margin(scene_)},
                  .width = scene_.window});
  if (scene_.varying_probe) return;
  launch(cluster_, rank, size, AddGroups<Complex<T>>{parts, probe, groups, size});
}

template class Fused<float>;
template class Fused<double>;

}  // namespace rankcheck::gpu
