#include "cases/commands/version.hpp"

#include <initializer_list>

#include <fmt/format.h>
#include <generated/commit.hpp>
#include <unistd.h>

#include "cases/backends/command_backend.hpp"

namespace rankcheck::cases {

const char* version() {
  return RANKCHECK_VERSION;
}

const char* commit() {
  return RANKCHECK_COMMIT;
}

const char* compiler() {
#ifdef __clang__
  return __VERSION__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string describe_build() {
  std::string text = fmt::format("rankcheck {} (commit {})\n", version(), commit());
  text += fmt::format("built with  {}, {}\n", compiler(), RANKCHECK_BUILD_TYPE);
  text += "backends    sim";
  for (const char* name : {"mpi", "cuda", "nccl", "hybrid"}) {
    const std::string worker = program_beside(fmt::format("rankcheck-worker-{}", name));
    if (::access(worker.c_str(), X_OK) == 0) text += fmt::format(", {}", name);
  }
  text += fmt::format("\ncuda        {}\n", RANKCHECK_BUILT_CUDA);
  text += fmt::format("nccl        {}\n", RANKCHECK_BUILT_NCCL);
  text += fmt::format("reconstruct {}\n", RANKCHECK_BUILT_RECONSTRUCT);
  text += fmt::format("sanitizers  {}", RANKCHECK_BUILT_SANITIZERS);
  return text;
}

}  // namespace rankcheck::cases
