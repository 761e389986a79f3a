#include "harness/worker/serve.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace rankcheck::harness::worker {

namespace {

/// Cases are small, so the harness sends no payload.
constexpr std::uint64_t payload_bytes_max = 0;

void run(Subject& subject,
         Connection& connection,
         const nlohmann::json& header,
         Observation& result) {
  const auto id = header.at("run").get<std::uint64_t>();
  result.clear();
  std::vector<Case> stages;
  try {
    for (const nlohmann::json& stage : header.at("stages")) stages.push_back(case_from_json(stage));
    for (const Case& c : stages) {
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
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
  if (socket < 0 ||
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int error = errno;
    if (socket >= 0) ::close(socket);
    throw std::runtime_error(fmt::format("cannot connect to {}: {}", path, std::strerror(error)));
  }
  return {socket, socket};
}

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void serve(Subject& subject, Connection connection) {
  if (!connection.send(to_json(subject.hello()))) return;
  Observation result;
  while (true) {
    const auto frame = connection.next(payload_bytes_max);
    if (!frame) {
      if (!connection.fill()) return;
      continue;
    }
    if (frame->header.contains("run")) {
      run(subject, connection, frame->header, result);
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
