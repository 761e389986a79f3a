#include "harness/worker/serve.hpp"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <unistd.h>

#include "harness/worker/local_socket.hpp"

namespace rankcheck::harness::worker {

namespace {

/// Cases are small. Only inputs that a user gave need a payload.
constexpr std::uint64_t payload_bytes_max = std::uint64_t{1} << 36;

/// Reads the inputs that a user gave. Null if there are none.
std::shared_ptr<const GivenInputs> read_given(const Frame& frame) {
  if (!frame.header.contains("given")) return nullptr;
  auto given = std::make_shared<GivenInputs>();
  std::span<const std::byte> rest = frame.payload;
  for (const nlohmann::json& each : frame.header["given"]) {
    const auto size = each.get<std::size_t>();
    if (size > rest.size()) throw ProtocolError("given: expected sizes that fit the payload");
    given->send.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
    rest = rest.subspan(size);
  }
  if (given->send.empty()) throw ProtocolError("given: got none, expected the sizes of all parts");
  given->scalars = std::move(given->send.back());
  given->send.pop_back();
  return given;
}

void run(Subject& subject, Connection& connection, const Frame& frame, Observation& result) {
  const nlohmann::json& header = frame.header;
  const auto id = header.at("run").get<std::uint64_t>();
  const std::shared_ptr<const GivenInputs> given = read_given(frame);
  result.clear();
  std::vector<Case> stages;
  try {
    for (const nlohmann::json& stage : header.at("stages")) stages.push_back(case_from_json(stage));
    for (Case& c : stages) {
      if (c.input == InputKind::given) c.given = given;
      if (c.input == InputKind::given && given == nullptr)
        throw BadInput("input: got none, expected the inputs with the run");
      result.reason = subject.why_refused(c);
      if (!result.reason.empty()) break;
    }
    if (!result.reason.empty()) result.status = RunStatus::refused;
  } catch (const BadInput& error) {
    result.status = RunStatus::errored;
    result.reason = error.what();
  }
  if (result.status == RunStatus::completed) {
    const Entered entered = [&](int rank, std::size_t stage) {
      static_cast<void>(connection.send({{"progress", id}, {"rank", rank}, {"stage", stage}}));
    };
    subject.run(stages, entered, result);
  }
  if (result.status != RunStatus::completed) result.stages.clear();
  static_cast<void>(send_result(connection, id, result));
}

}  // namespace

Connection connect_to_harness() {
  const char* path = std::getenv(socket_variable);
  if (path == nullptr) return {STDIN_FILENO, STDOUT_FILENO};
  const int socket = connect_to(path).release();
  return {socket, socket};
}

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void serve(Subject& subject, Connection connection) {
  Hello hello = subject.hello();
  hello.takes_given = true;
  if (!connection.send(to_json(hello))) return;
  Observation result;
  while (true) {
    const auto frame = connection.next(payload_bytes_max);
    if (!frame) {
      if (!connection.fill()) return;
      continue;
    }
    if (frame->header.contains("run")) {
      run(subject, connection, *frame, result);
    } else if (frame->header.contains("refuses")) {
      const nlohmann::json& id = frame->header["refuses"];
      std::string reason;
      try {
        reason = subject.why_refused(case_from_json(frame->header.at("case")));
      } catch (const BadInput& error) {
        reason = error.what();
      }
      if (!connection.send({{"refusal", id}, {"reason", reason}})) return;
    } else {
      throw ProtocolError("an unknown message");
    }
  }
}

}  // namespace rankcheck::harness::worker
