#include "harness/base/npy.hpp"

#include "tests/fuzz/targets.hpp"

namespace rankcheck::fuzz {

namespace {

std::string fault_of_npy(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const harness::NpyArray array{std::string(input)};
    const auto count = static_cast<std::size_t>(array.count());
    if (array.elements().size() > input.size()) return "more elements than bytes";
    if (count > array.elements().size()) return "elements without bytes";
    std::size_t product = 1;
    for (const std::int64_t length : array.shape()) product *= static_cast<std::size_t>(length);
    return product == count ? "" : "a shape of another size";
  });
}

std::vector<std::string> seeds_of_npy() {
  const std::vector<std::byte> zeros(96);
  return {harness::to_npy(spec::Type::complex64, zeros.data(), {2, 3, 2}),
          harness::to_npy(spec::Type::f64, zeros.data(), {12}),
          harness::to_npy(spec::Type::uint8, zeros.data(), {}),
          harness::to_npy(spec::Type::int32, zeros.data(), {0, 4})};
}

}  // namespace

Target npy_target() {
  return {"npy", fault_of_npy, seeds_of_npy};
}

}  // namespace rankcheck::fuzz
