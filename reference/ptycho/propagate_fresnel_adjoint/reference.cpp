#include "reference/ptycho/references.hpp"
#include "reference/ptycho/spectrum.hpp"

namespace rankcheck::reference::propagate_fresnel_adjoint {

/// Needs waves and makes new waves.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  out[spec::Array::waves] = in[spec::Array::waves];
  filter(in.scene.detector, in.unit, out[spec::Array::waves], [&](std::size_t, int k, int l) {
    return conj(free_space(in.scene, in.scene.detector, k, l, in.unit));
  });
}

}  // namespace rankcheck::reference::propagate_fresnel_adjoint
