#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/scratch.hpp"
#include "gpu/ptycho/exchange/object_shares.hpp"
#include "gpu/ptycho/passes/model.hpp"
#include "gpu/ptycho/solvers/solver_share.hpp"

/// Sums that the steps of all solvers need.
namespace rankcheck::gpu {

/// Sums over the frames of all ranks. Keeps the devices' memory for them from use to use.
template <class T>
class FrameSums {
 public:
  using Shares = std::span<const SolverShare<T>>;

  /// Which sums a caller needs in addition to the cost. The weights are those of the object or the
  /// probe, as far as these are requested.
  struct RequestedSums {
    bool object = false;
    bool probe = false;
    bool weights = false;
    bool returned = false;
    /// Whether only rank 0 gets the sums of object and probe. It gathers the ranks' own sums and
    /// adds them in rank order. Every rank must then hold the whole object.
    bool gathered = false;
  };
  /// Totals over all frames of all ranks.
  struct Totals {
    double cost = 0;
    double positions = 0;
  };

  FrameSums(Cluster& cluster, const spec::Scene& scene, const std::vector<spec::Box>& held);

  /// Computes the requested ones of the arrays below. For object and probe these are gradients, or,
  /// if the noise model changes the waves, weighted sums of the changed waves. `shares` are those
  /// of the local ranks, in their order.
  Totals add(Noise noise, Shares shares, RequestedSums requested);
  /// Like add(), but sums the shares' present exit waves instead of the waves that return from the
  /// far plane. Computes no cost.
  void add_exit_waves(Shares shares, RequestedSums requested);
  /// Sets the exit waves of all positions to the waves that object and probe make.
  void make_exit_waves(Shares shares);
  /// Moves the exit waves w of all positions by beta (p - m). m are the waves of object and probe.
  /// p are the waves 2 m - w after they are given the measured amplitudes.
  void move_exit_waves(Shares shares, T beta);
  /// Computes largest_weights() from the weights.
  void find_largest_weights();

  /// Arrays of a local rank; the next sums change them. Arrays of the object's pixels cover the
  /// pixels that the rank holds.
  [[nodiscard]] Complex<T>* object(int rank) { return object_sum_.get(rank, 0); }
  [[nodiscard]] Complex<T>* probe(int rank) { return probe_sum_.get(rank, 0); }
  [[nodiscard]] const T* object_weight(int rank) { return weight_sum_.get(rank, 0); }
  [[nodiscard]] const T* probe_weight(int rank) { return probe_weight_.get(rank, 0); }
  /// The largest weight of the whole object, then that of the probe.
  [[nodiscard]] const T* largest_weights(int rank) { return largest_.get(rank, 2); }
  /// See Gradients::returned.
  [[nodiscard]] const Complex<T>* returned(int rank) { return returned_.get(rank, 0); }

  /// Room for up to numbers_most numbers of a local rank.
  [[nodiscard]] double* numbers(int rank) { return numbers_.get(rank, numbers_most); }
  /// Sums the first `count` numbers of each local rank over all ranks, in place, and returns the
  /// sums.
  std::vector<double> sum_numbers(std::int64_t count);
  /// Returns the first `count` numbers of a local rank.
  std::vector<double> read_numbers(int rank, std::int64_t count);

  [[nodiscard]] Cluster& cluster() const { return cluster_; }
  [[nodiscard]] ObjectShares& objects() { return objects_; }
  /// The number of object pixels that a rank holds.
  [[nodiscard]] std::int64_t pixels(int rank) const { return objects_.held(rank).pixels(); }
  /// The number of values of the probe.
  [[nodiscard]] std::int64_t probe_size() const { return probe_size_; }
  /// The number of values of one position's exit waves.
  [[nodiscard]] std::int64_t wave_size() const {
    return spec::values(scene_, spec::Array::exit_waves);
  }
  /// The number of pixels of a window.
  [[nodiscard]] std::int64_t window_size() const { return window_size_; }

 private:
  static constexpr std::int64_t numbers_most = 4;

  /// The models of the local ranks, made at the first use and kept.
  std::vector<Model<T>>& models(Noise noise);
  /// Fills the requested arrays of a local rank with zeros and returns them, for the rank's sums.
  Gradients<T> zeros(int rank, RequestedSums requested);
  /// Sums the requested arrays over all ranks.
  void sum_requested(RequestedSums requested);
  template <class Value>
  std::vector<Value*> all(Scratch<Value>& scratch);
  /// Sums arrays of the object's pixels over the ranks that hold a pixel.
  template <class Value>
  void sum_over_holders(Scratch<Value>& parts, Scratch<Value>& sums);
  /// Sums arrays that all ranks have over all ranks, in place.
  template <class Value>
  void sum_over_all(Scratch<Value>& scratch, std::int64_t count);
  /// Gathers arrays of `count` values on rank 0 and adds them there, in rank order. `parts` and
  /// `sums` may be the same.
  void sum_on_rank_0(Scratch<Complex<T>>& parts, Scratch<Complex<T>>& sums, std::int64_t count);

  Cluster& cluster_;
  spec::Scene scene_;
  std::int64_t probe_size_;
  std::int64_t window_size_;
  ObjectShares objects_;
  std::map<Noise, std::vector<Model<T>>> models_;
  /// The sums of a rank's own frames (part) and those over all ranks (sum).
  Scratch<Complex<T>> object_part_;
  Scratch<Complex<T>> object_sum_;
  Scratch<T> weight_part_;
  Scratch<T> weight_sum_;
  /// The sums of a rank's own frames, later those over all ranks.
  Scratch<Complex<T>> probe_sum_;
  Scratch<T> probe_weight_;
  Scratch<Complex<T>> returned_;
  /// The arrays of all ranks, on rank 0 only.
  Scratch<Complex<T>> gathered_;
  Scratch<double> numbers_;
  Scratch<T> largest_;
  Scratch<T> largest_of_chunks_;
};

extern template class FrameSums<float>;
extern template class FrameSums<double>;

}  // namespace rankcheck::gpu
