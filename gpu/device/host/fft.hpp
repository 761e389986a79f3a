#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "gpu/device/cluster.hpp"

namespace rankcheck::gpu::host {

/// Transforms on this machine's processor with FFTW; keeps its plans. Plans are estimated, not
/// measured, so that the same call gives the same bits in every run.
class Fft {
 public:
  void run(const Transform& transform, const void* in, void* out);

 private:
  template <class T>
  void run_typed(const Transform& transform, const void* in, void* out);

  /// Precision, width, inverse, in place, aligned for vector instructions.
  using Key = std::tuple<spec::Type, int, bool, bool, bool>;
  std::map<Key, std::shared_ptr<void>> plans_;
};

}  // namespace rankcheck::gpu::host
