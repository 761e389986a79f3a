#include "cases/reconstruct/model.hpp"

#include <cstddef>

#include "reference/ptycho/illuminate/reference.hpp"
#include "reference/ptycho/intensity/reference.hpp"
#include "reference/ptycho/propagate/reference.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::reconstruct {

using spec::Array;

ReferenceModel::ReferenceModel(const Dataset& data) : data_(data) {
  setting_.scene = data.scene();
  setting_.positions = 1;
  const auto fill = [](reference::BoundedArray& field,
                       const std::vector<std::complex<float>>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) field.values[i] = values[i];
  };
  fill(setting_.make(Array::object), data.object);
  fill(setting_.make(Array::probe), data.probe);
  setting_.make(Array::positions);
}

const reference::BoundedArray& ReferenceModel::intensity(std::int64_t position) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    setting_[Array::positions].values[axis] = data_.positions[2 * spec::to_size(position) + axis];
  }
  reference::illuminate::reference(setting_, setting_);
  reference::propagate::reference(setting_, setting_);
  reference::intensity::reference(setting_, setting_);
  return setting_[Array::frames];
}

}  // namespace rankcheck::cases::reconstruct
