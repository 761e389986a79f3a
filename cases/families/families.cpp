#include <array>
#include <span>

#include "harness/case/family.hpp"

#include "cases/families/collectives/family.hpp"
#include "cases/families/ptycho/family.hpp"

namespace rankcheck::harness {

std::span<const Family* const> families() {
  static const std::array all{&cases::collectives_family(), &cases::ptycho_family()};
  return all;
}

}  // namespace rankcheck::harness
