#pragma once

#include <filesystem>

#include "tests/cases/cli.hpp"

namespace rankcheck::tests {

/// Installs the program with CUDA programs whose devices are stand-ins on this machine's processor;
/// see tests/gpu/device/cuda/stand_in/.
class OnStandIn : public CliTest {
 protected:
  void SetUp() override {
    install();
    for (const char* name : {"rankcheck-worker-cuda", "rankcheck-reconstruct-cuda"}) {
      std::filesystem::create_symlink(std::filesystem::path(RANKCHECK_STAND_IN_CUDA) / name,
                                      folder_.path() / "bin" / name);
    }
  }
};

}  // namespace rankcheck::tests
