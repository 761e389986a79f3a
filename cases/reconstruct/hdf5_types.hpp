#pragma once

#include <string>

#include <H5Cpp.h>

/// What reading and writing of HDF5 files share.
namespace rankcheck::cases::reconstruct::hdf5 {

/// Returns the type of float or double in memory.
template <class T>
const H5::PredType& native() {
  return sizeof(T) == sizeof(float) ? H5::PredType::NATIVE_FLOAT : H5::PredType::NATIVE_DOUBLE;
}

/// Returns the type of two floats with these names; the real part comes first.
[[nodiscard]] H5::CompType complex_type(const std::string& real, const std::string& imaginary);

/// Returns the library's innermost complaint about the last call.
[[nodiscard]] std::string last_complaint();

}  // namespace rankcheck::cases::reconstruct::hdf5
