#pragma once

#include <string>

#include <gtest/gtest.h>

#include "cases/reconstruct/dataset.hpp"
#include "tests/data.hpp"

namespace rankcheck::cases::reconstruct {

inline const std::string two_modes = "simulated-two-modes.cxi";

/// A test of the scan in a data file. Without the file, the test is skipped. `Base` is a class of
/// GoogleTest.
template <class Base = testing::Test, const std::string& name = tests::siemens_star>
class DataFileTest : public Base {
 protected:
  void SetUp() override {
    const auto path = tests::data_file(name);
    if (!path) GTEST_SKIP() << tests::absent(name);
    data_ = read_dataset(*path);
  }

  Dataset data_;
};

}  // namespace rankcheck::cases::reconstruct
