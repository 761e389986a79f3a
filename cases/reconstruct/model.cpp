#include "cases/reconstruct/model.hpp"

#include <cstddef>

#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::reconstruct {

using spec::Array;

ReferenceModel::ReferenceModel(const Dataset& data) : data_(data) {
  arrays_.scene = data.scene();
  arrays_.positions = 1;
  const auto fill = [](reference::BoundedArray& bounded,
                       const std::vector<std::complex<float>>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) bounded.values[i] = values[i];
  };
  fill(arrays_.make(Array::object), data.object);
  fill(arrays_.make(Array::probe), data.probe);
  arrays_.make(Array::positions);
}

const reference::BoundedArray& ReferenceModel::intensity(std::int64_t position) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    arrays_[Array::positions].values[axis] = data_.positions[2 * spec::to_size(position) + axis];
  }
  reference::illuminate::reference(arrays_, arrays_);
  reference::propagate::reference(arrays_, arrays_);
  reference::intensity::reference(arrays_, arrays_);
  return arrays_[Array::frames];
}

}  // namespace rankcheck::cases::reconstruct
