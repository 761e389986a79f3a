#include "harness/backend/backend.hpp"

#include <nlohmann/json.hpp>

namespace rankcheck::harness {

nlohmann::json Backend::versions() const {
  return nlohmann::json::object();
}

const Capabilities* Backend::capabilities(std::string_view /*operation*/,
                                          std::string_view /*algorithm*/) const {
  return nullptr;
}

}  // namespace rankcheck::harness
