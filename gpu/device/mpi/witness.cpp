#include "gpu/device/mpi/witness.hpp"

#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>

namespace rankcheck::gpu::mpi {

namespace {

/// Every argument of these functions is an integer or a pointer, and none has more than this many;
/// so all pass through as words, whatever a function's signature is in the library's version.
using Word = std::intptr_t;
using Function = Word (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

std::vector<std::string_view>& notes() {
  static std::vector<std::string_view> all;
  return all;
}

[[maybe_unused]] Function find_next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

}  // namespace

void clear_witnessed() {
  notes().clear();
}

const std::vector<std::string_view>& witnessed() {
  return notes();
}

// Stands in front of the library's ompi_coll_base_<name>.
#define RANKCHECK_WITNESS(name)                                      \
  extern "C" Word ompi_coll_base_##name(Word a,                      \
                                        Word b,                      \
                                        Word c,                      \
                                        Word d,                      \
                                        Word e,                      \
                                        Word f,                      \
                                        Word g,                      \
                                        Word h,                      \
                                        Word i,                      \
                                        Word j,                      \
                                        Word k,                      \
                                        Word l) {                    \
    static const Function next = find_next("ompi_coll_base_" #name); \
    notes().push_back(#name);                                        \
    return next(a, b, c, d, e, f, g, h, i, j, k, l);                 \
  }

// The functions that the MPI library exports, listed when the build is configured.
#include "witnessed_functions.inc"

#undef RANKCHECK_WITNESS

}  // namespace rankcheck::gpu::mpi
