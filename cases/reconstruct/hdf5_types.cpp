#include "cases/reconstruct/hdf5_types.hpp"

namespace rankcheck::cases::reconstruct::hdf5 {

H5::CompType complex_type(const std::string& real, const std::string& imaginary) {
  H5::CompType type(2 * sizeof(float));
  type.insertMember(real, 0, H5::PredType::NATIVE_FLOAT);
  type.insertMember(imaginary, sizeof(float), H5::PredType::NATIVE_FLOAT);
  return type;
}

std::string last_complaint() {
  std::string complaint = "no reason given";
  const H5E_walk2_t visit = [](unsigned number, const H5E_error2_t* error, void* out) -> herr_t {
    if (number == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &complaint);
  return complaint;
}

}  // namespace rankcheck::cases::reconstruct::hdf5
