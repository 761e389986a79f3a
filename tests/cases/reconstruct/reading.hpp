#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/case/case.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "tests/cases/reconstruct/scan.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::cases::reconstruct {

/// Writes a scan as a file and reads it.
class ReadTest : public testing::Test {
 protected:
  Dataset read(const std::vector<Part>& parts) {
    write(path_, parts);
    return read_dataset(path_);
  }

  /// Returns the one-line complaint about the file, or "nothing" if it is accepted.
  std::string complaint(const std::vector<Part>& parts) {
    try {
      static_cast<void>(read(parts));
    } catch (const harness::BadInput& bad) {
      return bad.what();
    }
    return "nothing";
  }

  void expect_rejected(const std::vector<Part>& parts,
                       const std::string& dataset,
                       const std::string& why) {
    EXPECT_EQ(complaint(parts), path_.string() + ": " + dataset + ": " + why);
  }

  harness::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "scan.cxi";
};

}  // namespace rankcheck::cases::reconstruct
