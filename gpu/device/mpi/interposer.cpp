#include "gpu/device/mpi/interposer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <dlfcn.h>

namespace rankcheck::gpu::mpi {

namespace {

/// Every argument of these functions is an integer or a pointer, and no function has more than
/// these twelve. So all arguments pass as words, whatever signature a function has in the library's
/// version.
using Word = std::intptr_t;
using Function = Word (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

using Arguments = std::array<Word, 12>;

std::vector<std::string_view>& notes() {
  static std::vector<std::string_view> all;
  return all;
}

/// The arguments of each call of notes().
std::vector<Arguments>& arguments() {
  static std::vector<Arguments> all;
  return all;
}

/// Where the communicator stands among the arguments of a collective's algorithms. The words behind
/// the arguments are what registers and stack happened to hold, perhaps a communicator, too.
struct CommunicatorPlace {
  std::string_view prefix;
  std::size_t index;
};

constexpr std::array communicator_places{
    CommunicatorPlace{"allgather_intra_", 6},
    CommunicatorPlace{"allreduce_intra_", 5},
    CommunicatorPlace{"bcast_intra_", 4},
    CommunicatorPlace{"gather_intra_", 7},
    CommunicatorPlace{"reduce_intra_", 6},
    CommunicatorPlace{"scatter_intra_", 7},
};

/// Communicators that a library of the MPI library split or built a tree for, with its path.
std::set<std::pair<Word, std::string>>& uses() {
  static std::set<std::pair<Word, std::string>> all;
  return all;
}

[[maybe_unused]] void note(std::string_view function, const Arguments& given) {
  notes().push_back(function);
  arguments().push_back(given);
}

/// `caller` is an address in the code that calls.
[[maybe_unused]] void note_use(Word communicator, const void* caller) {
  Dl_info found{};
  if (dladdr(caller, &found) == 0 || found.dli_fname == nullptr) return;
  uses().emplace(communicator, found.dli_fname);
}

/// Returns where the communicator stands in calls of algorithms whose names begin so. Null if
/// nobody knows.
const CommunicatorPlace* place_in(std::string_view prefix) {
  const auto* const place = std::find_if(communicator_places.begin(),
                                         communicator_places.end(),
                                         [&](const auto& each) { return each.prefix == prefix; });
  return place == communicator_places.end() ? nullptr : place;
}

[[maybe_unused]] void note_component(const char* component,
                                     std::string_view prefix,
                                     const Arguments& given) {
  if (const CommunicatorPlace* const place = place_in(prefix)) {
    uses().emplace(given.at(place->index), component);
  }
}

[[maybe_unused]] Function find_next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

}  // namespace

void clear_calls_seen() {
  notes().clear();
  arguments().clear();
}

const std::vector<std::string_view>& calls_seen() {
  return notes();
}

bool is_watched(std::string_view function) {
  static constexpr std::array watched{
#define RANKCHECK_INTERPOSE(symbol, note) std::string_view(note),
#define RANKCHECK_INTERPOSE_USE(symbol)
#define RANKCHECK_INTERPOSE_COMPONENT(symbol, component, prefix)
#include "interposed_functions.inc"
#undef RANKCHECK_INTERPOSE
#undef RANKCHECK_INTERPOSE_USE
#undef RANKCHECK_INTERPOSE_COMPONENT
      std::string_view()};
  return std::find(watched.begin(), watched.end(), function) != watched.end();
}

bool are_uses_watched() {
  int watched = 0;
#define RANKCHECK_INTERPOSE(symbol, note)
#define RANKCHECK_INTERPOSE_USE(symbol) ++watched;
#define RANKCHECK_INTERPOSE_COMPONENT(symbol, component, prefix)
#include "interposed_functions.inc"
#undef RANKCHECK_INTERPOSE
#undef RANKCHECK_INTERPOSE_USE
#undef RANKCHECK_INTERPOSE_COMPONENT
  return watched > 0;
}

bool was_used_by(std::string_view component, std::intptr_t communicator) {
  return std::any_of(uses().begin(), uses().end(), [&](const auto& use) {
    return use.first == communicator && use.second.find(component) != std::string::npos;
  });
}

void forget_uses(std::intptr_t communicator) {
  std::erase_if(uses(), [&](const auto& use) { return use.first == communicator; });
}

std::string_view first_algorithm_on(std::intptr_t communicator,
                                    std::string_view prefix,
                                    const std::vector<std::intptr_t>& buffers) {
  const CommunicatorPlace* const place = place_in(prefix);
  if (place == nullptr) {
    throw std::logic_error(std::string(prefix) + ": where is the communicator?");
  }
  for (std::size_t i = 0; i < notes().size(); ++i) {
    const Arguments& given = arguments()[i];
    if (!notes()[i].starts_with(prefix) || given.at(place->index) != communicator) continue;
    const auto* const end = given.begin() + place->index;
    const auto is_given = [&](std::intptr_t word) {
      return std::find(given.begin(), end, word) != end;
    };
    if (buffers.empty() || std::any_of(buffers.begin(), buffers.end(), is_given)) return notes()[i];
  }
  return {};
}

// Replaces the library's function: makes a note, then calls the original.
#define RANKCHECK_WRAP(symbol, make_note)            \
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
    make_note;                                       \
    return next(a, b, c, d, e, f, g, h, i, j, k, l); \
  }

#define RANKCHECK_INTERPOSE(symbol, name) \
  RANKCHECK_WRAP(symbol, note(name, {a, b, c, d, e, f, g, h, i, j, k, l}))

// The communicator is one of the function's first two arguments. The other one is a small number,
// which is no communicator.
#define RANKCHECK_INTERPOSE_USE(symbol)       \
  RANKCHECK_WRAP(symbol, {                    \
    note_use(a, __builtin_return_address(0)); \
    note_use(b, __builtin_return_address(0)); \
  })

// A collective of a component, whose arguments are those of an algorithm.
#define RANKCHECK_INTERPOSE_COMPONENT(symbol, component, prefix) \
  RANKCHECK_WRAP(symbol, note_component(component, prefix, {a, b, c, d, e, f, g, h, i, j, k, l}))

// The list is written when the build is configured.
#include "interposed_functions.inc"

#undef RANKCHECK_INTERPOSE
#undef RANKCHECK_INTERPOSE_USE
#undef RANKCHECK_INTERPOSE_COMPONENT
#undef RANKCHECK_WRAP

}  // namespace rankcheck::gpu::mpi
