#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/scratch.hpp"
#include "gpu/ptycho/model.hpp"
#include "gpu/ptycho/object_shares.hpp"
#include "gpu/ptycho/solver_share.hpp"

/// What the steps of all solvers need.
namespace rankcheck::gpu {

/// What all ranks' frames add up to, and the devices' memory for it, which is kept from use to use.
template <class T>
class FrameSums {
 public:
  using Shares = std::span<const SolverShare<T>>;

  /// What is wanted beside the cost; the weights, of what is wanted of object and probe.
  struct Wanted {
    bool object = false;
    bool probe = false;
    bool weights = false;
    bool returned = false;
  };
  /// Of all frames of all ranks.
  struct Totals {
    double cost = 0;
    double positions = 0;
  };

  FrameSums(Cluster& cluster, const spec::Scene& scene, std::vector<spec::Box> held);

  /// Makes what is wanted of the arrays below: gradients, or whatever the model of the noise makes
  /// of the waves.
  Totals add(Noise noise, Shares shares, Wanted wanted);
  /// As add(), of the shares' exit waves as they are instead of waves that come back; no cost.
  void add_exit_waves(Shares shares, Wanted wanted);
  /// Makes exit waves w of all positions: those of object and probe.
  void make_exit_waves(Shares shares);
  /// Moves the exit waves w of all positions on by beta (p - m): m are the waves of object and
  /// probe, p those that 2 m - w become with the measured amplitudes.
  void move_exit_waves(Shares shares, T beta);
  /// Makes largest_weights() of the weights.
  void find_largest_weights();

  /// Arrays of a local rank, that change with the next sums. The object's are what the rank holds.
  [[nodiscard]] Complex<T>* object(int rank) { return object_sum_.get(rank, 0); }
  [[nodiscard]] Complex<T>* probe(int rank) { return probe_sum_.get(rank, 0); }
  [[nodiscard]] const T* object_weight(int rank) { return weight_sum_.get(rank, 0); }
  [[nodiscard]] const T* probe_weight(int rank) { return probe_weight_.get(rank, 0); }
  /// Of the whole object, then of the probe.
  [[nodiscard]] const T* largest_weights(int rank) { return largest_.get(rank, 0); }
  /// See Gradients::returned.
  [[nodiscard]] const Complex<T>* returned(int rank) { return returned_.get(rank, 0); }

  /// Room for a few numbers of a local rank.
  [[nodiscard]] double* numbers(int rank) { return numbers_.get(rank, numbers_most); }
  /// Sums the first `count` numbers of each local rank over all ranks.
  std::vector<double> sum_numbers(std::int64_t count);

  [[nodiscard]] Cluster& cluster() const { return cluster_; }
  [[nodiscard]] ObjectShares& objects() { return objects_; }
  /// Pixels of the object that a rank holds.
  [[nodiscard]] std::int64_t pixels(int rank) const { return objects_.held(rank).pixels(); }
  /// Values of the probe.
  [[nodiscard]] std::int64_t probe_size() const { return probe_size_; }
  /// Values of a position's exit waves.
  [[nodiscard]] std::int64_t wave_size() const {
    return spec::values(scene_, spec::Array::exit_waves);
  }
  /// Pixels of a window.
  [[nodiscard]] std::int64_t window_size() const { return window_size_; }

 private:
  static constexpr std::int64_t numbers_most = 4;

  /// Of each local rank, kept from its first use on.
  std::vector<Model<T>>& models(Noise noise);
  /// What a local rank is to add to what is wanted, which is zeros so far.
  Gradients<T> zeros(int rank, Wanted wanted);
  /// Sums what is wanted over all ranks.
  void sum_wanted(Wanted wanted);
  template <class Value>
  std::vector<Value*> all(Scratch<Value>& scratch);
  /// Sums arrays that lie like the object over the ranks that hold a pixel.
  template <class Value>
  void sum_over_holders(Scratch<Value>& parts, Scratch<Value>& sums);
  /// Sums arrays that all ranks have over all ranks, in place.
  template <class Value>
  void sum_over_all(Scratch<Value>& scratch, std::int64_t count);

  Cluster& cluster_;
  spec::Scene scene_;
  std::int64_t probe_size_;
  std::int64_t window_size_;
  ObjectShares objects_;
  std::map<Noise, std::vector<Model<T>>> models_;
  /// A rank's own sums, then those over all ranks.
  Scratch<Complex<T>> object_part_;
  Scratch<Complex<T>> object_sum_;
  Scratch<T> weight_part_;
  Scratch<T> weight_sum_;
  /// Sums over the rank's frames, then over all ranks.
  Scratch<Complex<T>> probe_sum_;
  Scratch<T> probe_weight_;
  Scratch<Complex<T>> returned_;
  Scratch<double> numbers_;
  Scratch<T> largest_;
  Scratch<T> largest_of_chunks_;
};

extern template class FrameSums<float>;
extern template class FrameSums<double>;

}  // namespace rankcheck::gpu
