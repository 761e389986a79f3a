#pragma once

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cases/reconstruct/dataset.hpp"
#include "tests/data.hpp"

namespace rankcheck::cases::reconstruct {

inline const std::string two_modes = "simulated-two-modes.cxi";

/// A test of the scan in a data file. Without the file, the test is skipped. `Base` is a class of
/// GoogleTest.
template <class Base = testing::Test>
class DataFileTest : public Base {
 protected:
  explicit DataFileTest(std::string name = tests::siemens_star) : name_(std::move(name)) {}

  void SetUp() override {
    const auto path = tests::data_file(name_);
    if (!path) GTEST_SKIP() << tests::absent(name_);
    data_ = read_dataset(*path);
  }

  std::string name_;
  Dataset data_;
};

}  // namespace rankcheck::cases::reconstruct
