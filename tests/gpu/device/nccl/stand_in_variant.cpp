#include "tests/gpu/device/nccl/stand_in_comm.hpp"

/// The only part of the stand-in that is compiled for each of its variants.
namespace rankcheck::stand_in {

const bool is_old = RANKCHECK_STAND_IN_OLD;

}  // namespace rankcheck::stand_in
