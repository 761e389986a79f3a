#include "cases/reconstruct/model.hpp"

#include <cstddef>

#include "reference/ptycho/extract/reference.hpp"

#include "gpu/device/host/fft.hpp"

namespace rankcheck::cases::reconstruct {

using spec::Array;

ReferenceModel::ReferenceModel(const Dataset& data) : data_(data) {
  setting_.scene = data.scene();
  setting_.positions = 1;
  const auto fill = [](reference::Field& field, const std::vector<std::complex<float>>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) field.values[i] = values[i];
  };
  fill(setting_.make(Array::object), data.object);
  fill(setting_.make(Array::probe), data.probe);
  setting_.make(Array::positions);
}

const reference::Field& ReferenceModel::intensity(std::int64_t position) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    setting_[Array::positions].values[axis] =
        data_.positions[2 * static_cast<std::size_t>(position) + axis];
  }
  reference::extract::reference(setting_, setting_);
  const spec::Scene& scene = setting_.scene;
  const auto width = static_cast<std::size_t>(scene.detector);
  const auto window = static_cast<std::size_t>(scene.window);
  const auto margin = static_cast<std::size_t>(spec::margin(scene));
  reference::Field& frames = setting_.make(Array::frames);
  for (std::size_t m = 0; m < static_cast<std::size_t>(scene.modes); ++m) {
    std::vector<std::complex<double>> wave(width * width, 0);
    for (std::size_t p = 0; p < window; ++p) {
      for (std::size_t q = 0; q < window; ++q) {
        const std::size_t pixel = (margin + p) * width + margin + q;
        wave[pixel] = setting_[Array::patches].values[pixel] *
                      setting_[Array::probe].values[(m * window + p) * window + q];
      }
    }
    gpu::host::Fft().run({.precision = spec::Type::f64, .width = scene.detector, .batch = 1},
                         wave.data(),
                         wave.data());
    for (std::size_t i = 0; i < wave.size(); ++i) {
      frames.values[i] += std::norm(wave[i]) / static_cast<double>(width * width);
    }
  }
  return frames;
}

}  // namespace rankcheck::cases::reconstruct
