#include "gpu/ptycho/solvers/frame_sums.hpp"

#include "reference/spec/assert.hpp"

#include "gpu/ptycho/kernels/arrays.hpp"

namespace rankcheck::gpu {

namespace {

template <class T>
ScanShare<T> scan_of(const SolverShare<T>& share) {
  return {.object = share.object,
          .probe = share.probe,
          .positions = share.positions,
          .frames = share.frames,
          .mask = share.mask,
          .count = share.count};
}

/// Sums one value of several arrays that lie one behind another.
template <class T>
struct SumArrays {
  const Complex<T>* arrays;
  Complex<T>* sums;
  std::int64_t count;
  int number;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    Complex<T> sum = arrays[i];
    for (int each = 1; each < number; ++each) sum = sum + arrays[each * count + i];
    sums[i] = sum;
  }
};

}  // namespace

template <class T>
FrameSums<T>::FrameSums(Cluster& cluster,
                        const spec::Scene& scene,
                        const std::vector<spec::Box>& held)
    : cluster_(cluster),
      scene_(scene),
      probe_size_(spec::values(scene, spec::Array::probe)),
      window_size_(spec::values(scene, spec::Array::windows)),
      objects_(cluster, scene, held),
      object_part_(cluster),
      object_sum_(cluster),
      weight_part_(cluster),
      weight_sum_(cluster),
      probe_sum_(cluster),
      probe_weight_(cluster),
      returned_(cluster),
      gathered_(cluster),
      numbers_(cluster),
      largest_(cluster),
      largest_of_chunks_(cluster) {}

template <class T>
std::vector<Model<T>>& FrameSums<T>::models(Noise noise) {
  std::vector<Model<T>>& models = models_[noise];
  if (!models.empty()) return models;
  for (const int rank : cluster_.local()) {
    spec::Scene own = scene_;
    own.rows = static_cast<int>(objects_.held(rank).rows);
    own.cols = static_cast<int>(objects_.held(rank).cols);
    models.emplace_back(cluster_, own, noise, passes_for(cluster_, own));
  }
  return models;
}

template <class T>
template <class Value>
std::vector<Value*> FrameSums<T>::all(Scratch<Value>& scratch) {
  std::vector<Value*> arrays;
  for (const int rank : cluster_.local()) arrays.push_back(scratch.get(rank, 0));
  return arrays;
}

template <class T>
template <class Value>
void FrameSums<T>::sum_over_holders(Scratch<Value>& parts, Scratch<Value>& sums) {
  for (const int rank : cluster_.local()) {
    static_cast<void>(sums.get(rank, pixels(rank)));
  }
  objects_.sum(all(parts), all(sums));
}

template <class T>
template <class Value>
void FrameSums<T>::sum_over_all(Scratch<Value>& scratch, std::int64_t count) {
  std::vector<std::byte*> arrays;
  for (Value* const each : all(scratch)) arrays.push_back(reinterpret_cast<std::byte*>(each));
  sum_over_ranks(cluster_, component_type<Value>, count * components_of<Value>, arrays);
}

template <class T>
std::vector<double> FrameSums<T>::sum_numbers(std::int64_t count) {
  sum_over_all(numbers_, count);
  return read_numbers(cluster_.local().front(), count);
}

template <class T>
std::vector<double> FrameSums<T>::read_numbers(int rank, std::int64_t count) {
  return cluster_.read_array(rank, numbers(rank), count);
}

template <class T>
void FrameSums<T>::sum_on_rank_0(Scratch<Complex<T>>& parts,
                                 Scratch<Complex<T>>& sums,
                                 std::int64_t count) {
  constexpr int root = 0;
  std::vector<DeviceBuffers> buffers;
  for (const int rank : cluster_.local()) {
    Complex<T>* const gathered =
        rank == root ? gathered_.get(rank, count * cluster_.ranks()) : nullptr;
    buffers.push_back({.send = reinterpret_cast<std::byte*>(parts.get(rank, count)),
                       .recv = reinterpret_cast<std::byte*>(gathered)});
  }
  cluster_.collective("gather",
                      {.ranks = cluster_.ranks(),
                       .root = root,
                       .type = component_type<Complex<T>>,
                       .count = count * components_of<Complex<T>>},
                      false,
                      buffers);
  for (const int rank : cluster_.local()) {
    Complex<T>* const sum = sums.get(rank, count);
    if (rank != root) continue;
    launch(cluster_,
           rank,
           count,
           SumArrays<T>{.arrays = gathered_.get(rank, 0),
                        .sums = sum,
                        .count = count,
                        .number = cluster_.ranks()});
  }
}

template <class T>
Gradients<T> FrameSums<T>::zeros(int rank, RequestedSums requested) {
  const auto zeros_of = [&]<class Value>(Scratch<Value>& scratch, std::int64_t count) {
    Value* const values = scratch.get(rank, count);
    fill(cluster_, rank, count, values, Value{});
    return values;
  };
  const std::int64_t pixels = this->pixels(rank);
  Gradients<T> out{.cost = zeros_of(numbers_, numbers_most)};
  if (requested.object) out.object = zeros_of(object_part_, pixels);
  if (requested.probe) out.probe = zeros_of(probe_sum_, probe_size_);
  if (requested.object && requested.weights) out.object_weight = zeros_of(weight_part_, pixels);
  if (requested.probe && requested.weights)
    out.probe_weight = zeros_of(probe_weight_, window_size_);
  return out;
}

template <class T>
void FrameSums<T>::sum_requested(RequestedSums requested) {
  if (requested.gathered) {
    RANKCHECK_ASSERT(!requested.weights);
    if (requested.object) sum_on_rank_0(object_part_, object_sum_, pixels(0));
    if (requested.probe) sum_on_rank_0(probe_sum_, probe_sum_, probe_size_);
    return;
  }
  if (requested.object) sum_over_holders(object_part_, object_sum_);
  if (requested.object && requested.weights) sum_over_holders(weight_part_, weight_sum_);
  if (requested.probe) sum_over_all(probe_sum_, probe_size_);
  if (requested.probe && requested.weights) sum_over_all(probe_weight_, window_size_);
}

template <class T>
typename FrameSums<T>::Totals FrameSums<T>::add(Noise noise,
                                                Shares shares,
                                                RequestedSums requested) {
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const SolverShare<T>& share = shares[place];
    const int rank = cluster_.local()[place];
    Gradients<T> out = zeros(rank, requested);
    fill(cluster_, rank, 1, out.cost + 1, static_cast<double>(share.count));
    if (requested.returned) out.returned = returned_.get(rank, share.count * window_size_);
    models(noise)[place].add(rank, scan_of(share), out);
  }
  sum_requested(requested);
  const std::vector<double> totals = sum_numbers(2);
  return {.cost = totals[0], .positions = totals[1]};
}

template <class T>
void FrameSums<T>::add_exit_waves(Shares shares, RequestedSums requested) {
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const SolverShare<T>& share = shares[place];
    const int rank = cluster_.local()[place];
    models(Noise::projected)[place].add_exit_waves(
        rank, scan_of(share), share.exit_waves, zeros(rank, requested));
  }
  sum_requested(requested);
}

template <class T>
void FrameSums<T>::make_exit_waves(Shares shares) {
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const SolverShare<T>& share = shares[place];
    models(Noise::projected)[place].make_exit_waves(
        cluster_.local()[place], scan_of(share), share.exit_waves);
  }
}

template <class T>
void FrameSums<T>::move_exit_waves(Shares shares, T beta) {
  for (std::size_t place = 0; place < shares.size(); ++place) {
    const SolverShare<T>& share = shares[place];
    const int rank = cluster_.local()[place];
    // The cost of the reflected waves is computed but not used.
    double* const cost = numbers(rank);
    models(Noise::projected)[place].move_exit_waves(
        rank, scan_of(share), beta, share.exit_waves, cost);
  }
}

template <class T>
void FrameSums<T>::find_largest_weights() {
  std::vector<DeviceBuffers> buffers;
  for (const int rank : cluster_.local()) {
    T* const largest = largest_.get(rank, 2);
    const auto find = [&](Scratch<T>& weights, std::int64_t count, T* to) {
      find_largest(cluster_, rank, count, weights.get(rank, count), largest_of_chunks_, to);
    };
    find(weight_sum_, pixels(rank), largest);
    find(probe_weight_, window_size_, largest + 1);
    auto* const bytes = reinterpret_cast<std::byte*>(largest);
    buffers.push_back({.send = bytes, .recv = bytes});
  }
  // Only the object's number is reduced, because the ranks hold different parts of the object. The
  // probe's weights are already equal on all ranks.
  cluster_.collective(
      "all_reduce",
      {.ranks = cluster_.ranks(), .type = component_type<T>, .op = spec::ReduceOp::max, .count = 1},
      true,
      buffers);
}

template class FrameSums<float>;
template class FrameSums<double>;

}  // namespace rankcheck::gpu
