#include "gpu/ptycho/model.hpp"

#include <algorithm>

#include "gpu/device/launch.hpp"
#include "gpu/ptycho/arrays.hpp"
#include "gpu/ptycho/transform.hpp"
#include "gpu/ptycho/window.hpp"

namespace rankcheck::gpu {

namespace {

/// Rows of a batch's windows: position, then row of the window.
template <class T>
struct ExtractPatches {
  struct Row {
    ObjectView<T> object;
    Window<T> window;
    std::int64_t p;
    /// The object's rows below the window's row, where the whole row lies on the object.
    const Complex<T>* upper;
    const Complex<T>* lower;
    bool inside;
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
    const bool inside =
        top >= 0 && top + 1 < object.rows && window.col >= 0 && window.col + width < object.cols;
    const Complex<T>* upper =
        inside ? object.values + top * object.cols + window.col : object.values;
    return {.object = object,
            .window = window,
            .p = p,
            .upper = upper,
            .lower = inside ? upper + object.cols : upper,
            .inside = inside,
            .out = patches + r * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t q) const {
    if (row.inside) {
      row.out[q] = row.window.w00 * row.upper[q] + row.window.w01 * row.upper[q + 1] +
                   row.window.w10 * row.lower[q] + row.window.w11 * row.lower[q + 1];
    } else {
      row.out[q] = row.object.at(row.window, row.p, q);
    }
  }
};

/// Rows of a batch's exit waves: position, mode, row of the frame.
template <class T>
struct Illuminate {
  struct Row {
    const Complex<T>* patch;
    const Complex<T>* probe;
    Complex<T>* out;
    std::int64_t margin;
    std::int64_t end;
  };

  const Complex<T>* patches;
  /// Of the batch's first position.
  const Complex<T>* probe;
  Complex<T>* waves;
  std::int64_t modes;
  std::int64_t detector;
  std::int64_t width;
  std::int64_t margin;
  bool varying_probe;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t p = r % detector - margin;
    const std::int64_t layer = r / detector;
    const std::int64_t n = layer / modes;
    const bool is_lit = p >= 0 && p < width;
    const std::int64_t in_probe = ((varying_probe ? layer : layer % modes) * width + p) * width;
    return {.patch = is_lit ? patches + (n * width + p) * width : patches,
            .probe = is_lit ? probe + in_probe : probe,
            .out = waves + r * detector,
            .margin = margin,
            .end = is_lit ? margin + width : margin};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    const bool is_lit = c >= row.margin && c < row.end;
    row.out[c] = is_lit ? row.patch[c - row.margin] * row.probe[c - row.margin] : Complex<T>{};
  }
};

/// Rows of a batch's frames: turns the transformed waves into the far-plane gradient, scaled for
/// both unitary transforms.
template <class T, Noise noise>
struct CompareFrames {
  struct Row {
    Complex<T>* waves;
    const T* frame;
    const T* mask;
    T* costs;
  };

  Complex<T>* waves;
  const T* frames;
  const T* mask;
  T* costs;
  std::int64_t modes;
  std::int64_t detector;
  T scale;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t n = r / detector;
    const std::int64_t p = r % detector;
    return {.waves = waves + (n * modes * detector + p) * detector,
            .frame = frames + r * detector,
            .mask = mask == nullptr ? nullptr : mask + p * detector,
            .costs = costs + r * detector};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    const std::int64_t layer = detector * detector;
    T intensity = 0;
    for (std::int64_t m = 0; m < modes; ++m) intensity += norm(scale * row.waves[m * layer + c]);
    Pixel<T> pixel = compare_pixel<noise>(intensity, row.frame[c]);
    if (row.mask != nullptr && row.mask[c] == 0) pixel = {};
    row.costs[c] = pixel.cost;
    const T factor = pixel.factor * scale * scale;
    for (std::int64_t m = 0; m < modes; ++m) {
      row.waves[m * layer + c] = factor * row.waves[m * layer + c];
    }
  }
};

/// The sum of each row, in double precision.
template <class T>
struct SumRows {
  const T* values;
  double* sums;
  std::int64_t width;

  RANKCHECK_HD void operator()(std::int64_t r) const {
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += static_cast<double>(values[r * width + c]);
    sums[r] = sum;
  }
};

/// Rows of a batch's windows with a border of one zero: the sum over the modes of conj(probe) times
/// what came back.
template <class T>
struct ShareObject {
  struct Row {
    const Complex<T>* waves;
    const Complex<T>* probe;
    Complex<T>* out;
    bool is_border;
  };

  const Complex<T>* waves;
  const Complex<T>* probe;
  Complex<T>* shares;
  std::int64_t modes;
  std::int64_t detector;
  std::int64_t width;
  std::int64_t margin;
  bool varying_probe;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t n = r / (width + 2);
    const std::int64_t p = r % (width + 2) - 1;
    const bool is_border = p < 0 || p >= width;
    const std::int64_t line = is_border ? 0 : p;
    return {.waves = waves + (n * modes * detector + margin + line) * detector + margin,
            .probe = probe + ((varying_probe ? n * modes : 0) * width + line) * width,
            .out = shares + r * (width + 2),
            .is_border = is_border};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    Complex<T> sum;
    if (!row.is_border && c > 0 && c <= width) {
      for (std::int64_t m = 0; m < modes; ++m) {
        sum +=
            conj(row.probe[m * width * width + c - 1]) * row.waves[m * detector * detector + c - 1];
      }
    }
    row.out[c] = sum;
  }
};

/// Rows of the object below one window: adds the window's share. One position at a time, so that
/// the order of the sums is the positions' order.
template <class T, class Value>
struct AddShare {
  struct Row {
    const Value* above;
    const Value* below;
    Value* out;
    Window<T> window;
    bool exists;
  };

  const T* position;
  /// Of this position, border included.
  const Value* share;
  Value* object;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const Window<T> window(position);
    const std::int64_t line = window.row + r;
    const bool exists = line >= 0 && line < rows;
    return {.above = share + r * (width + 2),
            .below = share + (r + 1) * (width + 2),
            .out = object + (exists ? line * cols : 0),
            .window = window,
            .exists = exists};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    const std::int64_t col = row.window.col + c;
    if (!row.exists || col < 0 || col >= cols) return;
    row.out[col] += row.window.w00 * row.below[c + 1] + row.window.w01 * row.below[c] +
                    row.window.w10 * row.above[c + 1] + row.window.w11 * row.above[c];
  }
};

/// Rows of a window with a border of one zero: the light of one position's probe.
template <class T>
struct ShareLight {
  struct Row {
    const Complex<T>* probe;
    T* out;
    bool is_border;
  };

  /// Of this position.
  const Complex<T>* probe;
  T* light;
  std::int64_t modes;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const bool is_border = r < 1 || r > width;
    return {.probe = probe + (is_border ? 0 : r - 1) * width,
            .out = light + r * (width + 2),
            .is_border = is_border};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    T sum = 0;
    if (!row.is_border && c > 0 && c <= width) {
      for (std::int64_t m = 0; m < modes; ++m) sum += norm(row.probe[m * width * width + c - 1]);
    }
    row.out[c] = sum;
  }
};

/// A pixel of the window: what one position's patch adds.
template <class T>
struct AddMagnitude {
  const Complex<T>* patch;
  T* weight;

  RANKCHECK_HD void operator()(std::int64_t i) const { weight[i] += norm(patch[i]); }
};

/// Rows of the probe's modes: what one position adds.
template <class T>
struct AddToProbe {
  struct Row {
    const Complex<T>* waves;
    const Complex<T>* patch;
    Complex<T>* out;
  };

  /// Of this position.
  const Complex<T>* waves;
  const Complex<T>* patch;
  Complex<T>* probe;
  std::int64_t detector;
  std::int64_t width;
  std::int64_t margin;
  bool overwrites;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t m = r / width;
    const std::int64_t p = r % width;
    return {.waves = waves + (m * detector + margin + p) * detector + margin,
            .patch = patch + p * width,
            .out = probe + r * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const {
    const Complex<T> share = conj(row.patch[c]) * row.waves[c];
    row.out[c] = overwrites ? share : row.out[c] + share;
  }
};

}  // namespace

template <class T>
std::int64_t Model<T>::batch_size() const {
  // Waves of a batch stay in a processor's second-level cache.
  constexpr std::int64_t bytes = std::int64_t{1} << 18;
  const std::int64_t frame = spec::values(scene_, spec::Array::waves);
  return std::max<std::int64_t>(1, bytes / (frame * static_cast<std::int64_t>(sizeof(Complex<T>))));
}

template <class T>
typename Model<T>::Scratch& Model<T>::scratch(int rank) {
  const auto [found, is_new] = scratch_.try_emplace(rank);
  if (is_new) {
    const std::int64_t batch = batch_size();
    const std::int64_t frame = std::int64_t{scene_.detector} * scene_.detector;
    const std::int64_t width = scene_.window;
    found->second = {
        .patches = cluster_.allocate_array<Complex<T>>(rank, batch * width * width),
        .waves = cluster_.allocate_array<Complex<T>>(rank, batch * scene_.modes * frame),
        .shares = cluster_.allocate_array<Complex<T>>(rank, batch * (width + 2) * (width + 2)),
        .light = cluster_.allocate_array<T>(rank, (width + 2) * (width + 2)),
        .costs = cluster_.allocate_array<T>(rank, batch * frame),
        .row_costs = cluster_.allocate_array<double>(rank, batch * scene_.detector)};
  }
  return found->second;
}

template <class T>
void Model<T>::forward(int rank, const Exposure<T>& exposure, Batch batch) {
  const Scratch& memory = scratch(rank);
  const std::int64_t width = scene_.window;
  launch_rows(cluster_,
              rank,
              batch.count * width,
              width,
              ExtractPatches<T>{
                  .object = {.values = exposure.object, .rows = scene_.rows, .cols = scene_.cols},
                  .positions = exposure.positions + 2 * batch.first,
                  .patches = memory.patches,
                  .width = width});
  const std::int64_t probe_first =
      scene_.varying_probe ? batch.first * spec::values(scene_, spec::Array::probe) : 0;
  launch_rows(cluster_,
              rank,
              batch.count * scene_.modes * scene_.detector,
              scene_.detector,
              Illuminate<T>{.patches = memory.patches,
                            .probe = exposure.probe + probe_first,
                            .waves = memory.waves,
                            .modes = scene_.modes,
                            .detector = scene_.detector,
                            .width = width,
                            .margin = spec::margin(scene_),
                            .varying_probe = scene_.varying_probe});
  transform_frames(cluster_,
                   rank,
                   scene_.detector,
                   batch.count * scene_.modes,
                   false,
                   memory.waves,
                   memory.waves);
}

template <class T>
void Model<T>::compare(int rank,
                       const Exposure<T>& exposure,
                       Batch batch,
                       const Gradients<T>& out) {
  const Scratch& memory = scratch(rank);
  const std::int64_t frame = std::int64_t{scene_.detector} * scene_.detector;
  const std::int64_t rows = batch.count * scene_.detector;
  const auto compare_with = [&]<Noise noise>() {
    launch_rows(cluster_,
                rank,
                rows,
                scene_.detector,
                CompareFrames<T, noise>{.waves = memory.waves,
                                        .frames = exposure.frames + batch.first * frame,
                                        .mask = exposure.mask,
                                        .costs = memory.costs,
                                        .modes = scene_.modes,
                                        .detector = scene_.detector,
                                        .scale = 1 / static_cast<T>(scene_.detector)});
  };
  if (noise_ == Noise::gaussian) {
    compare_with.template operator()<Noise::gaussian>();
  } else {
    compare_with.template operator()<Noise::poisson>();
  }
  launch(cluster_,
         rank,
         rows,
         SumRows<T>{.values = memory.costs, .sums = memory.row_costs, .width = scene_.detector});
  launch(cluster_, rank, 1, AddSum{memory.row_costs, out.cost, rows});
}

template <class T>
void Model<T>::backward(int rank,
                        const Exposure<T>& exposure,
                        Batch batch,
                        const Gradients<T>& out) {
  const Scratch& memory = scratch(rank);
  const std::int64_t width = scene_.window;
  const std::int64_t frame = std::int64_t{scene_.detector} * scene_.detector;
  const std::int64_t probe_size = spec::values(scene_, spec::Array::probe);
  transform_frames(cluster_,
                   rank,
                   scene_.detector,
                   batch.count * scene_.modes,
                   true,
                   memory.waves,
                   memory.waves);
  if (out.object != nullptr) {
    const std::int64_t probe_first = scene_.varying_probe ? batch.first * probe_size : 0;
    launch_rows(cluster_,
                rank,
                batch.count * (width + 2),
                width + 2,
                ShareObject<T>{.waves = memory.waves,
                               .probe = exposure.probe + probe_first,
                               .shares = memory.shares,
                               .modes = scene_.modes,
                               .detector = scene_.detector,
                               .width = width,
                               .margin = spec::margin(scene_),
                               .varying_probe = scene_.varying_probe});
  }
  for (std::int64_t b = 0; b < batch.count; ++b) {
    if (out.object != nullptr) {
      launch_rows(cluster_,
                  rank,
                  width + 1,
                  width + 1,
                  AddShare<T, Complex<T>>{.position = exposure.positions + 2 * (batch.first + b),
                                          .share = memory.shares + b * (width + 2) * (width + 2),
                                          .object = out.object,
                                          .rows = scene_.rows,
                                          .cols = scene_.cols,
                                          .width = width});
    }
    if (out.probe != nullptr) {
      const std::int64_t own = scene_.varying_probe ? (batch.first + b) * probe_size : 0;
      launch_rows(cluster_,
                  rank,
                  scene_.modes * width,
                  width,
                  AddToProbe<T>{.waves = memory.waves + b * scene_.modes * frame,
                                .patch = memory.patches + b * width * width,
                                .probe = out.probe + own,
                                .detector = scene_.detector,
                                .width = width,
                                .margin = spec::margin(scene_),
                                .overwrites = scene_.varying_probe});
    }
  }
}

template <class T>
void Model<T>::weigh(int rank, const Exposure<T>& exposure, Batch batch, const Gradients<T>& out) {
  const Scratch& memory = scratch(rank);
  const std::int64_t width = scene_.window;
  for (std::int64_t b = 0; b < batch.count; ++b) {
    const std::int64_t n = batch.first + b;
    if (out.probe_weight != nullptr) {
      launch(cluster_,
             rank,
             width * width,
             AddMagnitude<T>{memory.patches + b * width * width, out.probe_weight});
    }
    if (out.object_weight == nullptr) continue;
    // A shared probe's light is the same for all positions.
    if (scene_.varying_probe || n == 0) {
      const std::int64_t own = scene_.varying_probe ? n : 0;
      launch_rows(
          cluster_,
          rank,
          width + 2,
          width + 2,
          ShareLight<T>{.probe = exposure.probe + own * spec::values(scene_, spec::Array::probe),
                        .light = memory.light,
                        .modes = scene_.modes,
                        .width = width});
    }
    launch_rows(cluster_,
                rank,
                width + 1,
                width + 1,
                AddShare<T, T>{.position = exposure.positions + 2 * n,
                               .share = memory.light,
                               .object = out.object_weight,
                               .rows = scene_.rows,
                               .cols = scene_.cols,
                               .width = width});
  }
}

template <class T>
void Model<T>::add(int rank, const Exposure<T>& exposure, const Gradients<T>& out) {
  const std::int64_t size = batch_size();
  for (std::int64_t first = 0; first < exposure.count; first += size) {
    const Batch batch{.first = first, .count = std::min(size, exposure.count - first)};
    forward(rank, exposure, batch);
    compare(rank, exposure, batch, out);
    if (out.object != nullptr || out.probe != nullptr) backward(rank, exposure, batch, out);
    if (out.object_weight != nullptr || out.probe_weight != nullptr) {
      weigh(rank, exposure, batch, out);
    }
  }
}

template class Model<float>;
template class Model<double>;

}  // namespace rankcheck::gpu
