#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/case/case.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "tests/cases/reconstruct/scan.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::cases::reconstruct {

/// Returns the one-line complaint of `read` about its input; empty if there is none.
template <class Read>
std::string complaint_of(const Read& read) {
  return harness::complaint_of<harness::BadInput>(read);
}

/// Writes a scan as a file and reads it.
class ReadTest : public testing::Test {
 protected:
  /// Reads the scan with changes.
  Dataset read(const std::vector<Part>& changes = {}) {
    write(path_, with(scan_, changes));
    return read_dataset(path_);
  }

  std::string complaint(const std::vector<Part>& changes) {
    return complaint_of([&] { return read(changes); });
  }

  void expect_rejected(const std::vector<Part>& changes,
                       const std::string& dataset,
                       const std::string& why) {
    EXPECT_EQ(complaint(changes), path_.string() + ": " + dataset + ": " + why);
  }

  /// The same for a change of one dataset, which is then the one that is rejected.
  void expect_rejected(const Part& change, const std::string& why) {
    expect_rejected({change}, change.name, why);
  }

  harness::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "scan.cxi";
  std::vector<Part> scan_ = small_scan();
};

}  // namespace rankcheck::cases::reconstruct
