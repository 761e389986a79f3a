#pragma once

#include <filesystem>

#include "tests/cases/cli.hpp"

namespace rankcheck::tests {

/// The program with the CUDA worker whose devices are this machine's processor; see
/// tests/gpu/device/cuda/stand_in/.
class OnStandIn : public CliTest {
 protected:
  void SetUp() override {
    install();
    std::filesystem::create_symlink(RANKCHECK_STAND_IN_CUDA,
                                    folder_.path() / "bin" / "rankcheck-worker-cuda");
  }
};

}  // namespace rankcheck::tests
