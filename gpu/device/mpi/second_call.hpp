#pragma once

#include <cstddef>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/collective.hpp"

namespace rankcheck::gpu::mpi {

struct Site;

/// Huge buffers may leave no memory for a second call, which needs as much as the first one. All
/// ranks agree, because only the call decides. `stride` is the larger one of input and output.
[[nodiscard]] bool has_room_for_second(const spec::Call& call, std::int64_t stride);

/// The buffers of a second call that is under way at the same time as the call under test: same
/// arguments, other data and other memory. A library that mixes up the two requests leaves wrong
/// data in the call under test. Nobody looks at the second call's own result.
class SecondCall {
 public:
  SecondCall(const spec::Call& call, const spec::Extents& extents, const Site& site);

  /// Whether the second call starts first. All ranks agree, and half of the calls do.
  [[nodiscard]] bool starts_first() const { return starts_first_; }

  /// The argument of the second call in place of the first call's. Pointers into the buffers become
  /// pointers into copies of the buffers; others stay.
  [[nodiscard]] void* argument_of_second(void* argument);
  template <class Argument>
  [[nodiscard]] Argument argument_of_second(Argument argument) {
    return argument;
  }

  /// Keeps the data of the call under test. Then changes its bits that are set in `change`. Every
  /// change starts from what was kept, and so undoes what the call did to its buffers.
  void keep_data();
  void change_data(std::byte change);

  /// Work on memory of this program's own, while requests are under way.
  static void work();

 private:
  /// A buffer of the call under test, and its copy.
  struct Buffer {
    std::byte* begin = nullptr;
    std::vector<std::byte> copy;
    /// The content at keep_data().
    std::vector<std::byte> own = {};
  };
  static Buffer copy_of(std::byte* begin, std::int64_t bytes);

  Buffer send_;
  Buffer recv_;
  bool starts_first_ = false;
};

}  // namespace rankcheck::gpu::mpi
