#include "gpu/ptycho/passes/fused_passes.hpp"

#include <algorithm>
#include <utility>

#include "gpu/device/launch/launch.hpp"
#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/kernels/compare_pixels.hpp"
#include "gpu/ptycho/kernels/gather_strips.hpp"

namespace rankcheck::gpu {

namespace {

/// The number of rows of a frame in a strip. A thread processes one column of a strip.
constexpr std::int32_t illuminated_rows = 8;

/// Computes the waves behind the object. A row of this kernel has all columns of one strip of a
/// frame.
template <class T, class Number>
struct IlluminateStrips {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    const PlacedWindow<T>* window;
    /// The strip's first row in the frame.
    std::int32_t line;
    /// `probe`: mode 0 of the position's probe. `out`: mode 0 of the position's waves.
    const Number* probe;
    Number* out;
  };

  ObjectColumns<T, Number> object;
  const Number* probe;
  /// The number of values from one position's probe to the next; 0 if they share a probe.
  std::int64_t probe_step;
  const PlacedWindow<T>* windows;
  Number* waves;
  std::int32_t modes;
  std::int32_t detector;
  std::int32_t width;
  std::int32_t margin;
  /// Strips of one frame.
  std::int32_t strips;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const std::int64_t n = r / strips;
    return {.first = 0,
            .end = detector,
            .window = windows + n,
            .line = static_cast<std::int32_t>(r % strips) * illuminated_rows,
            .probe = probe + n * probe_step,
            .out = waves + n * (std::int64_t{modes} * detector * detector)};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t column) const {
    const auto c = static_cast<std::int32_t>(column);
    const std::int32_t p = row.line - margin;
    const std::int32_t q = c - margin;
    const bool is_lit = q >= 0 && q < width;
    Complex<T> patch[illuminated_rows];
    if (is_lit && p > -illuminated_rows && p < width) object.read(*row.window, p, q, patch);
    if (is_lit && p >= 0 && p <= width - illuminated_rows) {
      write<true>(row, c, p, q, patch);
    } else {
      write<false>(row, c, p, q, patch);
    }
  }

  /// With `is_whole`, all pixels of the thread are in the window.
  template <bool is_whole>
  RANKCHECK_HD void write(const Row& row,
                          std::int32_t c,
                          std::int32_t p,
                          std::int32_t q,
                          const Complex<T> (&patch)[illuminated_rows]) const {
    const Number* light = row.probe + (p * width + q);
    Number* out = row.out + (row.line * detector + c);
    for (std::int32_t m = 0; m < modes; ++m) {
      // All values are read before the first one is written, because the compiler does not know
      // that the arrays do not overlap.
      Number lights[illuminated_rows];
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < illuminated_rows; ++k) {
        if (is_whole || is_lit(p + k, q)) lights[k] = light[std::int64_t{k} * width];
      }
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < illuminated_rows; ++k) {
        if (!is_whole && row.line + k >= detector) continue;
        Number wave{};
        if (is_whole || is_lit(p + k, q)) wave = {patch[k] * lights[k]};
        out[std::int64_t{k} * detector] = wave;
      }
      light += width * width;
      out += detector * detector;
    }
  }

  [[nodiscard]] RANKCHECK_HD bool is_lit(std::int32_t p, std::int32_t q) const {
    return p >= 0 && p < width && q >= 0 && q < width;
  }
};

/// The number of positions in a group. One thread adds up a group's contributions to a value of a
/// shared probe.
constexpr std::int64_t probe_group = 32;

/// Computes the contribution of each group of positions to the probe. A row of this kernel is one
/// strip of one mode.
template <class T, class Number>
struct GatherProbe {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    std::int64_t begin_n;
    std::int64_t end_n;
    std::int32_t p;
    /// `wave`: the mode's waves of the group's first position, from row p of the window on. `out`:
    /// the mode of the group's probe.
    const Number* wave;
    Complex<T>* out;
  };

  ObjectColumns<T, Number> object;
  const Number* waves;
  const PlacedWindow<T>* windows;
  /// Shape [groups, modes, width, width].
  Complex<T>* probe;
  std::int64_t count;
  /// Positions in a group.
  std::int64_t group;
  std::int32_t modes;
  std::int32_t detector;
  std::int32_t width;
  std::int32_t margin;
  /// The number of values from one position's waves to the next.
  std::int64_t wave_step;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const Strips strips{.rows = width, .cols = width};
    const Strips::Strip strip = strips.strip(r);
    const std::int64_t begin = strip.array / modes * group;
    return {.first = strip.col,
            .end = strips.end_col(strip),
            .begin_n = begin,
            .end_n = begin + group < count ? begin + group : count,
            .p = strip.row,
            .wave = waves + FrameLayout{.width = detector, .margin = margin}.row(
                                begin * modes + strip.array % modes, strip.row),
            .out = probe + (strip.array * width + strip.row) * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t column) const {
    const auto q = static_cast<std::int32_t>(column);
    const std::int32_t lines = width - row.p;
    Complex<T> sums[strip_rows];
    const Number* wave = row.wave + q;
    for (std::int64_t n = row.begin_n; n < row.end_n; ++n) {
      Number of_row[strip_rows];
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < strip_rows; ++k) {
        // If the window ends inside the strip, its last row is read again. This avoids a branch.
        of_row[k] = wave[std::int64_t{k < lines ? k : lines - 1} * detector];
      }
      Complex<T> patch[strip_rows];
      object.read(windows[n], row.p, q, patch);
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < strip_rows; ++k) sums[k] += conj(patch[k]) * of_row[k];
      wave += wave_step;
    }
    RANKCHECK_UNROLLED
    for (std::int32_t k = 0; k < strip_rows; ++k) {
      if (k < lines) row.out[k * width + q] = sums[k];
    }
  }
};

/// Computes the contribution of each group of positions to the weights of the window's pixels: the
/// squares of the object under them. A row of this kernel is one strip of the window.
template <class T, class Number>
struct GatherMagnitudes {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    std::int64_t begin_n;
    std::int64_t end_n;
    std::int32_t p;
    T* out;
  };

  ObjectColumns<T, Number> object;
  const PlacedWindow<T>* windows;
  /// Shape [groups, width, width].
  T* weight;
  std::int64_t count;
  std::int32_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    const Strips strips{.rows = width, .cols = width};
    const Strips::Strip strip = strips.strip(r);
    const std::int64_t begin = strip.array * probe_group;
    return {.first = strip.col,
            .end = strips.end_col(strip),
            .begin_n = begin,
            .end_n = begin + probe_group < count ? begin + probe_group : count,
            .p = strip.row,
            .out = weight + (strip.array * width + strip.row) * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t column) const {
    const auto q = static_cast<std::int32_t>(column);
    T sums[strip_rows] = {};
    for (std::int64_t n = row.begin_n; n < row.end_n; ++n) {
      Complex<T> patch[strip_rows];
      object.read(windows[n], row.p, q, patch);
      RANKCHECK_UNROLLED
      for (std::int32_t k = 0; k < strip_rows; ++k) sums[k] += norm(patch[k]);
    }
    RANKCHECK_UNROLLED
    for (std::int32_t k = 0; k < strip_rows; ++k) {
      if (row.p + k < width) row.out[k * width + q] = sums[k];
    }
  }
};

/// Adds the contributions of all groups to one value.
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
FusedPasses<T>::FusedPasses(Cluster& cluster, const spec::Scene& scene, std::int64_t batch_max)
    : cluster_(cluster),
      scene_(scene),
      batch_max_(batch_max > 0 ? batch_max : cluster.batch_max),
      waves_(cluster),
      windows_(cluster),
      costs_(cluster),
      more_costs_(cluster),
      near_(cluster),
      probe_parts_(cluster),
      weight_parts_(cluster) {
  if (batch_max_ > 0) return;
  constexpr std::int64_t bytes = std::int64_t{1} << 29;
  batch_max_ = std::max<std::int64_t>(
      1, bytes / (wave_size() * static_cast<std::int64_t>(sizeof(Complex<T>))));
}

template <class T>
const PlacedWindow<T>* FusedPasses<T>::place(int rank, const T* positions, Batch batch) {
  PlacedWindow<T>* const windows = windows_.get(rank, batch.count);
  launch(cluster_, rank, batch.count, PlaceWindows<T>{positions + 2 * batch.first, windows});
  return windows;
}

template <class T>
template <class Number>
ObjectColumns<T, Number> FusedPasses<T>::columns(const Complex<T>* object) const {
  return {
      .values = reinterpret_cast<const Number*>(object), .rows = scene_.rows, .cols = scene_.cols};
}

template <class T>
void FusedPasses<T>::illuminate(int rank,
                                const ScanShare<T>& scan,
                                Batch batch,
                                Complex<T>* waves) {
  const PlacedWindow<T>* const windows = place(rank, scan.positions, batch);
  const Complex<T>* const probe = scan.probe + batch.first * probe_step(scene_);
  const std::int32_t strips = (scene_.detector + illuminated_rows - 1) / illuminated_rows;
  with_alignment<T>({scan.object, probe, waves}, [&]<class Number>() {
    const IlluminateStrips<T, Number> kernel{.object = columns<Number>(scan.object),
                                             .probe = reinterpret_cast<const Number*>(probe),
                                             .probe_step = probe_step(scene_),
                                             .windows = windows,
                                             .waves = reinterpret_cast<Number*>(waves),
                                             .modes = scene_.modes,
                                             .detector = scene_.detector,
                                             .width = scene_.window,
                                             .margin = spec::margin(scene_),
                                             .strips = strips};
    launch_rows(cluster_, rank, batch.count * strips, kernel);
  });
}

template <class T>
void FusedPasses<T>::add_up(int rank, std::int64_t count, double* cost) {
  const auto threads_for = [](std::int64_t values) {
    return (values + sums_of_thread - 1) / sums_of_thread;
  };
  double* from = costs_.get(rank, 0);
  double* to = more_costs_.get(rank, threads_for(count));
  while (count > sums_of_thread) {
    const std::int64_t threads = threads_for(count);
    launch(cluster_, rank, threads, SumApart{from, to, count, threads});
    count = threads;
    std::swap(from, to);
  }
  launch(cluster_, rank, 1, AddSum{from, cost, count});
}

template <class T>
void FusedPasses<T>::compare(int rank,
                             Noise noise,
                             const ScanShare<T>& scan,
                             Batch batch,
                             T scale,
                             T factor_scale,
                             const Complex<T>* waves,
                             Complex<T>* gradient,
                             double* cost) {
  const std::int32_t frame = scene_.detector * scene_.detector;
  const std::int32_t chunks = (frame + chunk_pixels - 1) / chunk_pixels;
  const std::int64_t threads = batch.count * chunks * threads_of_chunk;
  double* const costs = costs_.get(rank, threads);
  const auto compare_with = [&]<Noise kind>() {
    with_alignment<T>({waves, gradient}, [&]<class Number>() {
      launch(cluster_,
             rank,
             threads,
             ComparePixels<T, Number, kind>{.waves = reinterpret_cast<const Number*>(waves),
                                            .gradient = reinterpret_cast<Number*>(gradient),
                                            .frames = scan.frames + batch.first * frame,
                                            .mask = scan.mask,
                                            .costs = costs,
                                            .modes = scene_.modes,
                                            .frame = frame,
                                            .chunks_of_frame = chunks,
                                            .scale = scale,
                                            .factor_scale = factor_scale});
    });
  };
  with_noise(noise, compare_with);
  add_up(rank, threads, cost);
}

template <class T>
template <class Value, class Share>
void FusedPasses<T>::add_windows(
    int rank, const T* positions, Batch batch, const Share& share, Value* object) {
  const ObjectTiles tiling{.strips = {.rows = scene_.rows, .cols = scene_.cols}};
  const auto marks = static_cast<std::int32_t>((batch.count + mark_bits - 1) / mark_bits);
  const PlacedWindow<T>* const windows = place(rank, positions, batch);
  std::uint32_t* const near = near_.get(rank, marks * tiling.count());
  launch(cluster_,
         rank,
         marks * tiling.count(),
         MarkNear<T>{.windows = windows,
                     .count = batch.count,
                     .width = scene_.window,
                     .tiling = tiling,
                     .near = near});
  launch_rows(cluster_,
              rank,
              tiling.strips.count(),
              GatherStrips<T, Value, Share>{.share = share,
                                            .windows = windows,
                                            .marks = marks,
                                            .tiling = tiling,
                                            .near = near,
                                            .object = object,
                                            .width = scene_.window});
}

template <class T>
void FusedPasses<T>::add_to_object(
    int rank, const ScanShare<T>& scan, Batch batch, const Complex<T>* waves, Complex<T>* object) {
  const Complex<T>* const probe = scan.probe + batch.first * probe_step(scene_);
  with_alignment<T>({probe, waves}, [&]<class Number>() {
    add_windows(rank,
                scan.positions,
                batch,
                ConjugateTimesWaveColumn<T, Number>(scene_, probe, waves),
                object);
  });
}

template <class T>
void FusedPasses<T>::add_light(int rank, const ScanShare<T>& scan, Batch batch, T* object_weight) {
  const Complex<T>* const probe = scan.probe + batch.first * probe_step(scene_);
  with_alignment<T>({probe}, [&]<class Number>() {
    add_windows(
        rank, scan.positions, batch, ProbeLightColumn<T, Number>(scene_, probe), object_weight);
  });
}

template <class T>
void FusedPasses<T>::add_magnitudes(int rank,
                                    const ScanShare<T>& scan,
                                    Batch batch,
                                    T* probe_weight) {
  const Strips strips{.rows = scene_.window, .cols = scene_.window};
  const std::int64_t size = std::int64_t{scene_.window} * scene_.window;
  const std::int64_t groups = (batch.count + probe_group - 1) / probe_group;
  T* const parts = weight_parts_.get(rank, groups * size);
  const PlacedWindow<T>* const windows = place(rank, scan.positions, batch);
  with_alignment<T>({scan.object}, [&]<class Number>() {
    launch_rows(cluster_,
                rank,
                groups * strips.count(),
                GatherMagnitudes<T, Number>{.object = columns<Number>(scan.object),
                                            .windows = windows,
                                            .weight = parts,
                                            .count = batch.count,
                                            .width = scene_.window});
  });
  launch(cluster_, rank, size, AddGroups<T>{parts, probe_weight, groups, size});
}

template <class T>
void FusedPasses<T>::add_to_probe(
    int rank, const ScanShare<T>& scan, Batch batch, const Complex<T>* waves, Complex<T>* probe) {
  const Strips strips{.rows = scene_.window, .cols = scene_.window};
  const std::int64_t size = std::int64_t{scene_.modes} * scene_.window * scene_.window;
  const std::int64_t group = scene_.varying_probe ? 1 : probe_group;
  const std::int64_t groups = (batch.count + group - 1) / group;
  Complex<T>* const parts =
      scene_.varying_probe ? probe + batch.first * size : probe_parts_.get(rank, groups * size);
  const PlacedWindow<T>* const windows = place(rank, scan.positions, batch);
  with_alignment<T>({scan.object, waves}, [&]<class Number>() {
    launch_rows(cluster_,
                rank,
                groups * scene_.modes * strips.count(),
                GatherProbe<T, Number>{.object = columns<Number>(scan.object),
                                       .waves = reinterpret_cast<const Number*>(waves),
                                       .windows = windows,
                                       .probe = parts,
                                       .count = batch.count,
                                       .group = group,
                                       .modes = scene_.modes,
                                       .detector = scene_.detector,
                                       .width = scene_.window,
                                       .margin = spec::margin(scene_),
                                       .wave_step = wave_size()});
  });
  if (scene_.varying_probe) return;
  launch(cluster_, rank, size, AddGroups<Complex<T>>{parts, probe, groups, size});
}

template class FusedPasses<float>;
template class FusedPasses<double>;

}  // namespace rankcheck::gpu
