#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reference/spec/operator.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/launch/launch.hpp"

namespace rankcheck::gpu {

/// A call of an operator, from the view of the ranks of this process. The Value of a complex array
/// is Complex<T>, that of a real array is T.
class OperatorRun {
 public:
  /// `buffers` are those of cluster.local(), with the layout of the contract.
  OperatorRun(Cluster& cluster,
              const spec::Contract& contract,
              const spec::OperatorCall& call,
              std::span<const DeviceBuffers> buffers);

  [[nodiscard]] Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const spec::OperatorCall& call() const { return call_; }
  [[nodiscard]] const spec::Scene& scene() const { return call_.scene; }
  [[nodiscard]] std::span<const int> local() const { return cluster_.local(); }
  /// The number of positions of a rank.
  [[nodiscard]] std::int64_t positions(int rank) const { return call_.counts[spec::to_size(rank)]; }
  /// The number of values of an array that a rank holds.
  [[nodiscard]] std::int64_t size(int rank, spec::Array array) const;

  /// An input array of a local rank.
  template <class Value>
  [[nodiscard]] const Value* in(int rank, spec::Array array) const {
    return reinterpret_cast<const Value*>(input(rank, array));
  }
  /// An output array of a local rank.
  template <class Value>
  [[nodiscard]] Value* out(int rank, spec::Array array) const {
    return reinterpret_cast<Value*>(output(rank, array));
  }

  /// Sums an output array over all ranks, in place.
  void sum_over_ranks(spec::Array array) const;
  /// Sums a number on the device of each local rank over all ranks, in place, and writes it to the
  /// output array `cost`.
  void put_cost(const std::vector<double*>& sums) const;

 private:
  [[nodiscard]] std::size_t place(int rank) const;
  [[nodiscard]] const std::byte* input(int rank, spec::Array array) const;
  [[nodiscard]] std::byte* output(int rank, spec::Array array) const;

  Cluster& cluster_;
  const spec::Contract& contract_;
  const spec::OperatorCall& call_;
  std::span<const DeviceBuffers> buffers_;
  std::vector<spec::Extents> extents_;
};

/// One way to compute an operator.
struct Operator {
  /// The algorithm's name on the command line, which is also the name of its file.
  std::string_view name;
  std::string_view summary;
  /// Says why the algorithm does not take this (legal) call; empty if it does. Null means that it
  /// takes all calls.
  std::string_view (*refuses)(const spec::OperatorCall& call) = nullptr;
  /// Enqueues the work of the local ranks.
  void (*run)(const OperatorRun& run) = nullptr;
  /// True if the algorithm processes its positions in batches of Cluster::batch_max. Other
  /// algorithms refuse a batch size.
  bool in_batches = false;
};

/// Says why an algorithm does not take a (legal) call in batches of `batch` positions; empty if it
/// does. With `batch` 0, the algorithm chooses.
[[nodiscard]] inline std::string_view why_refused(const Operator& algorithm,
                                                  const spec::OperatorCall& call,
                                                  std::int64_t batch = 0) {
  if (batch > 0 && !algorithm.in_batches) return "chunk: the algorithm has no batches";
  return algorithm.refuses == nullptr ? std::string_view{} : algorithm.refuses(call);
}

/// Calls body.template operator()<T>() with T the real type of the call's precision.
template <class Body>
void with_precision(spec::Type type, const Body& body) {
  if (type == spec::Type::f64) {
    body.template operator()<double>();
  } else {
    body.template operator()<float>();
  }
}

/// Calls body.template operator()<T>(rank) for each local rank, with T the real type of the call's
/// precision.
template <class Body>
void for_each_local(const OperatorRun& run, const Body& body) {
  with_precision(run.call().type, [&]<class T>() {
    for (const int rank : run.local()) body.template operator()<T>(rank);
  });
}

/// Launches Kernel<T>::of(run, rank) for each value of the output array Kernel<T>::output of each
/// local rank.
template <template <class> class Kernel>
void launch_for_each_value(const OperatorRun& run) {
  for_each_local(run, [&]<class T>(int rank) {
    const std::int64_t values = run.size(rank, Kernel<T>::output);
    launch(run.cluster(), rank, values, Kernel<T>::of(run, rank));
  });
}

}  // namespace rankcheck::gpu
