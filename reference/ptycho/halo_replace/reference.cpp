#include "reference/ptycho/halo.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::halo_replace {

/// Needs the ranks' tiles and makes new tiles.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& tile = in[spec::Array::tile];
  BoundedArray& replaced = out.make(spec::Array::tile);
  for_each_replicated_pixel(in,
                            [&](std::int64_t, std::int64_t, const std::vector<Replica>& replicas) {
                              for (const Replica& owner : replicas) {
                                if (!owner.owner) continue;
                                for (const Replica& replica : replicas) {
                                  replaced.values[replica.place] = tile.values[owner.place];
                                  replaced.errors[replica.place] = tile.errors[owner.place];
                                }
                              }
                            });
}

}  // namespace rankcheck::reference::halo_replace
