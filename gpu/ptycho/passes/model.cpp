#include "gpu/ptycho/passes/model.hpp"

#include "gpu/device/launch/launch.hpp"
#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/kernels/transform.hpp"

namespace rankcheck::gpu {

namespace {

/// A row of a frame of a batch.
struct FrameRow {
  std::int64_t first;
  std::int64_t end;
  /// p: the row's index in its frame. in_frames, in_waves: the index of the row's first pixel in an
  /// array of frames and in an array of waves.
  std::int64_t p;
  std::int64_t in_frames;
  std::int64_t in_waves;
};

RANKCHECK_HD inline FrameRow frame_row(std::int64_t r, std::int64_t modes, std::int64_t width) {
  const std::int64_t n = r / width;
  const std::int64_t p = r % width;
  return {.first = 0,
          .end = width,
          .p = p,
          .in_frames = r * width,
          .in_waves = (n * modes * width + p) * width};
}

/// Adds the intensity of one mode.
template <class T>
struct AddIntensity {
  /// The mode's waves of the batch's first position.
  const Complex<T>* waves;
  T* intensities;
  std::int64_t modes;
  std::int64_t width;
  T scale;
  bool overwrites;

  [[nodiscard]] RANKCHECK_HD FrameRow row(std::int64_t r) const {
    return frame_row(r, modes, width);
  }

  RANKCHECK_HD void operator()(const FrameRow& row, std::int64_t c) const {
    T* const out = intensities + row.in_frames + c;
    const T added = norm(scale * waves[row.in_waves + c]);
    *out = overwrites ? added : *out + added;
  }
};

/// Replaces the intensities by the factors that turn the waves into the far-plane gradient. The
/// factors contain the scale of both unitary transforms.
template <class T, Noise noise>
struct CompareFrames {
  const T* frames;
  const T* mask;
  T* factors;
  T* costs;
  std::int64_t width;
  T scale;

  [[nodiscard]] RANKCHECK_HD FrameRow row(std::int64_t r) const { return frame_row(r, 1, width); }

  RANKCHECK_HD void operator()(const FrameRow& row, std::int64_t c) const {
    const std::int64_t i = row.in_frames + c;
    const Pixel<T> pixel = compare_pixel<noise>(factors[i], frames[i]);
    const bool is_measured = mask[row.p * width + c] != 0;
    const Pixel<T> unmeasured = unmeasured_pixel<noise, T>();
    costs[i] = is_measured ? pixel.cost : unmeasured.cost;
    factors[i] = (is_measured ? pixel.factor : unmeasured.factor) * scale * scale;
  }
};

/// Multiplies one mode by the factors, which gives the far-plane gradient.
template <class T>
struct TimesFactor {
  /// The mode's waves of the batch's first position.
  Complex<T>* waves;
  const T* factors;
  std::int64_t modes;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD FrameRow row(std::int64_t r) const {
    return frame_row(r, modes, width);
  }

  RANKCHECK_HD void operator()(const FrameRow& row, std::int64_t c) const {
    waves[row.in_waves + c] = factors[row.in_frames + c] * waves[row.in_waves + c];
  }
};

/// Copies the windows of mode 0 of a batch's waves. A row of this kernel is a row of a window.
template <class T>
struct KeepWindows {
  struct Row {
    std::int64_t first;
    std::int64_t end;
    const Complex<T>* wave;
    Complex<T>* out;
  };

  const Complex<T>* waves;
  /// The first window of the batch.
  Complex<T>* windows;
  FrameLayout frames;
  std::int64_t modes;
  std::int64_t width;

  [[nodiscard]] RANKCHECK_HD Row row(std::int64_t r) const {
    return {.first = 0,
            .end = width,
            .wave = waves + frames.row(r / width * modes, r % width),
            .out = windows + r * width};
  }

  RANKCHECK_HD void operator()(const Row& row, std::int64_t c) const { row.out[c] = row.wave[c]; }
};

/// Replaces one value m of `waves` and w of `exit_waves` by 2 m - w and w - beta m.
template <class T>
struct Reflect {
  Complex<T>* waves;
  Complex<T>* exit_waves;
  T beta;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const Complex<T> wave = waves[i];
    const Complex<T> before = exit_waves[i];
    waves[i] = T{2} * wave - before;
    exit_waves[i] = before - beta * wave;
  }
};

/// Computes the sum of each row in double precision.
template <class T>
struct SumRows {
  const T* values;
  double* sums;
  std::int64_t width;

  RANKCHECK_HD void operator()(std::int64_t r) const {
    // Several partial sums run at a time. In a single sum, each addition would wait for the one
    // before.
    constexpr std::int64_t lanes = 8;
    double sum[lanes] = {};
    const T* const row = values + r * width;
    const std::int64_t whole = width - width % lanes;
    for (std::int64_t c = 0; c < whole; c += lanes) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        sum[lane] += static_cast<double>(row[c + lane]);
      }
    }
    for (std::int64_t c = whole; c < width; ++c) sum[c - whole] += static_cast<double>(row[c]);
    double total = 0;
    for (const double each : sum) total += each;
    sums[r] = total;
  }
};

}  // namespace

template <class T>
typename Model<T>::Scratch& Model<T>::scratch(int rank) {
  const auto [found, is_new] = scratch_.try_emplace(rank);
  if (is_new) {
    const std::int64_t batch = batched_.batch_max();
    found->second = {
        .waves = cluster_.allocate_array<Complex<T>>(rank, batch * scene_.modes * frame()),
        .factors = cluster_.allocate_array<T>(rank, batch * frame()),
        .costs = cluster_.allocate_array<T>(rank, batch * frame()),
        .row_costs = cluster_.allocate_array<double>(rank, batch * scene_.detector),
        .no_mask = cluster_.allocate_array<T>(rank, frame())};
    fill(cluster_, rank, frame(), found->second.no_mask, T{1});
  }
  return found->second;
}

template <class T>
template <class Body>
void Model<T>::for_each_batch(std::int64_t count, const Body& body) {
  if (fused_) {
    fused_->for_each_batch(count, body);
  } else {
    batched_.for_each_batch(count, body);
  }
}

template <class T>
Complex<T>* Model<T>::waves_of(int rank, Batch batch) {
  return fused_ ? fused_->waves(rank, batch.count) : scratch(rank).waves;
}

template <class T>
void Model<T>::illuminate(int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves) {
  if (!fused_) return batched_.forward(rank, scan, batch, waves);
  if (waves != nullptr) fused_->illuminate(rank, scan, batch, waves);
}

template <class T>
void Model<T>::transform(int rank, Batch batch, bool inverse, Complex<T>* waves) {
  transform_frames(
      cluster_, rank, scene_.detector, batch.count * scene_.modes, inverse, waves, waves);
}

template <class T>
void Model<T>::compare(
    int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves, double* cost) {
  if (!fused_) return compare_batched(rank, scan, batch, waves, cost);
  const T scale = 1 / static_cast<T>(scene_.detector);
  // `scale` makes the first transform unitary, `scale` squared both.
  fused_->compare(rank, noise_, scan, batch, scale, scale * scale, waves, waves, cost);
}

template <class T>
void Model<T>::compare_batched(
    int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves, double* cost) {
  const Scratch& memory = scratch(rank);
  const std::int64_t width = scene_.detector;
  const std::int64_t rows = batch.count * width;
  const T scale = 1 / static_cast<T>(width);
  for (int mode = 0; mode < scene_.modes; ++mode) {
    launch_rows(cluster_,
                rank,
                rows,
                AddIntensity<T>{.waves = waves + mode * frame(),
                                .intensities = memory.factors,
                                .modes = scene_.modes,
                                .width = width,
                                .scale = scale,
                                .overwrites = mode == 0});
  }
  const T* const mask = scan.mask == nullptr ? memory.no_mask : scan.mask;
  const auto compare_with = [&]<Noise noise>() {
    launch_rows(cluster_,
                rank,
                rows,
                CompareFrames<T, noise>{.frames = scan.frames + batch.first * frame(),
                                        .mask = mask,
                                        .factors = memory.factors,
                                        .costs = memory.costs,
                                        .width = width,
                                        .scale = scale});
  };
  with_noise(noise_, compare_with);
  for (int mode = 0; mode < scene_.modes; ++mode) {
    launch_rows(cluster_,
                rank,
                rows,
                TimesFactor<T>{.waves = waves + mode * frame(),
                               .factors = memory.factors,
                               .modes = scene_.modes,
                               .width = width});
  }
  launch(cluster_,
         rank,
         rows,
         SumRows<T>{.values = memory.costs, .sums = memory.row_costs, .width = width});
  launch(cluster_, rank, 1, AddSum{memory.row_costs, cost, rows});
}

template <class T>
void Model<T>::keep_windows(int rank, Batch batch, const Complex<T>* waves, Complex<T>* returned) {
  const std::int64_t width = scene_.window;
  launch_rows(cluster_,
              rank,
              batch.count * width,
              KeepWindows<T>{.waves = waves,
                             .windows = returned + batch.first * width * width,
                             .frames = {.width = scene_.detector, .margin = spec::margin(scene_)},
                             .modes = scene_.modes,
                             .width = width});
}

template <class T>
void Model<T>::gather(int rank,
                      const ScanShare<T>& scan,
                      Batch batch,
                      const Complex<T>* waves,
                      const Gradients<T>& out) {
  if (fused_) {
    if (out.object != nullptr) fused_->add_to_object(rank, scan, batch, waves, out.object);
    if (out.probe != nullptr) fused_->add_to_probe(rank, scan, batch, waves, out.probe);
    if (out.object_weight != nullptr) fused_->add_light(rank, scan, batch, out.object_weight);
    if (out.probe_weight != nullptr) fused_->add_magnitudes(rank, scan, batch, out.probe_weight);
    return;
  }
  if (out.object != nullptr || out.probe != nullptr) {
    batched_.backward(rank, scan, batch, waves, out.object, out.probe);
  }
  if (out.object_weight != nullptr || out.probe_weight != nullptr) {
    batched_.weigh(rank, scan, batch, out.object_weight, out.probe_weight);
  }
}

template <class T>
void Model<T>::add(int rank, const ScanShare<T>& scan, const Gradients<T>& out) {
  for_each_batch(scan.count, [&](Batch batch) {
    Complex<T>* const waves = waves_of(rank, batch);
    illuminate(rank, scan, batch, waves);
    transform(rank, batch, false, waves);
    compare(rank, scan, batch, waves, out.cost);
    if (out.object != nullptr || out.probe != nullptr) {
      transform(rank, batch, true, waves);
      if (out.returned != nullptr) keep_windows(rank, batch, waves, out.returned);
    }
    gather(rank, scan, batch, waves, out);
  });
}

template <class T>
void Model<T>::add_exit_waves(int rank,
                              const ScanShare<T>& scan,
                              const Complex<T>* exit_waves,
                              const Gradients<T>& out) {
  for_each_batch(scan.count, [&](Batch batch) {
    illuminate(rank, scan, batch, nullptr);
    gather(rank, scan, batch, exit_waves + batch.first * wave_size(), out);
  });
}

template <class T>
void Model<T>::make_exit_waves(int rank, const ScanShare<T>& scan, Complex<T>* exit_waves) {
  for_each_batch(scan.count, [&](Batch batch) {
    illuminate(rank, scan, batch, exit_waves + batch.first * wave_size());
  });
}

template <class T>
void Model<T>::move_exit_waves(
    int rank, const ScanShare<T>& scan, T beta, Complex<T>* exit_waves, double* cost) {
  for_each_batch(scan.count, [&](Batch batch) {
    Complex<T>* const waves = waves_of(rank, batch);
    Complex<T>* const moved = exit_waves + batch.first * wave_size();
    const std::int64_t size = batch.count * wave_size();
    illuminate(rank, scan, batch, waves);
    launch(cluster_, rank, size, Reflect<T>{.waves = waves, .exit_waves = moved, .beta = beta});
    transform(rank, batch, false, waves);
    compare(rank, scan, batch, waves, cost);
    transform(rank, batch, true, waves);
    add_scaled<T>(cluster_, rank, size, moved, beta, waves, moved);
  });
}

Passes passes_for(Cluster& cluster, const spec::Scene& scene) {
  const bool has_queues = cluster.queue(cluster.local().front()) != nullptr;
  return has_queues && scene.slices == 1 ? Passes::fused : Passes::batched;
}

template class Model<float>;
template class Model<double>;

}  // namespace rankcheck::gpu
