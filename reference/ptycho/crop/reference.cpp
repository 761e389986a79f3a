#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"

namespace rankcheck::reference::crop {

/// Needs patches, makes windows.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& patches = in[spec::Array::patches];
  BoundedArray& windows = out.make(spec::Array::windows);
  for_each_window_pixel(in, [&](std::size_t in_windows, std::size_t in_patches) {
    windows.values[in_windows] = patches.values[in_patches];
    windows.errors[in_windows] = patches.errors[in_patches];
  });
}

}  // namespace rankcheck::reference::crop
