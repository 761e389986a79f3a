#include "gpu/device/mpi/witness.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>

namespace rankcheck::gpu::mpi {

namespace {

/// Every argument of these functions is an integer or a pointer, and no function has more than
/// these twelve. So all arguments pass as words, whatever signature a function has in the library's
/// version.
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

bool is_watched(std::string_view function) {
  static constexpr std::array watched{
#define RANKCHECK_WITNESS(symbol, note) std::string_view(note),
#include "witnessed_functions.inc"
#undef RANKCHECK_WITNESS
      std::string_view()};
  return std::find(watched.begin(), watched.end(), function) != watched.end();
}

// Replaces the library's function: notes that it was called, then calls the original.
#define RANKCHECK_WITNESS(symbol, note)              \
  extern "C" Word symbol(Word a,                     \
                         Word b,                     \
                         Word c,                     \
                         Word d,                     \
                         Word e,                     \
                         Word f,                     \
                         Word g,                     \
                         Word h,                     \
                         Word i,                     \
                         Word j,                     \
                         Word k,                     \
                         Word l) {                   \
    static const Function next = find_next(#symbol); \
    notes().push_back(note);                         \
    return next(a, b, c, d, e, f, g, h, i, j, k, l); \
  }

// The list is written when the build is configured.
#include "witnessed_functions.inc"

#undef RANKCHECK_WITNESS

}  // namespace rankcheck::gpu::mpi
