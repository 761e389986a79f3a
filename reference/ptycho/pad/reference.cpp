#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"

namespace rankcheck::reference::pad {

/// Needs windows, makes patches.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& windows = in[spec::Array::windows];
  BoundedArray& patches = out.make(spec::Array::patches);
  for_each_window_pixel(in, [&](std::size_t in_windows, std::size_t in_patches) {
    patches.values[in_patches] = windows.values[in_windows];
    patches.errors[in_patches] = windows.errors[in_windows];
  });
}

}  // namespace rankcheck::reference::pad
