#include "tests/harness/schema.hpp"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "harness/base/files.hpp"

namespace rankcheck::harness {

std::string complaints(const nlohmann::json& report, const std::string& file) {
  using valijson::adapters::NlohmannJsonAdapter;
  const auto text = read_file(std::string(RANKCHECK_SOURCE_DIR) + "/reports/" + file);
  const nlohmann::json document = nlohmann::json::parse(text);
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(NlohmannJsonAdapter(document), schema);
  valijson::ValidationResults results;
  valijson::Validator().validate(schema, NlohmannJsonAdapter(report), &results);
  std::string all;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& each : error.context) all += each;
    all += ": " + error.description + '\n';
  }
  return all;
}

}  // namespace rankcheck::harness
