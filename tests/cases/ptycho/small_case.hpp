#pragma once

#include "reference/spec/contract.hpp"

#include "harness/case/case.hpp"

#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases {

/// Returns a small case of two ranks that uses everything that the operator may have. It is in
/// double precision: in single precision, several slices of so few pixels have no power.
inline harness::Case small_case_of(const spec::Contract& contract) {
  harness::Case c;
  c.operation = contract.name;
  c.ranks = 2;
  c.counts = {2, 1};
  c.type = spec::Type::f64;
  c.data_seed = 7;
  spec::Scene& scene = ptycho(c).scene;
  scene = {.rows = 5, .cols = 5, .window = 3, .detector = 4, .modes = 2};
  if (ptycho(contract).multislice) scene.slices = 2;
  if (ptycho(contract).in_free_space || scene.slices > 1) scene.wavelength = scene.distance = 1;
  if (ptycho(contract).tiled) scene.halo = 1;
  return c;
}

}  // namespace rankcheck::cases
