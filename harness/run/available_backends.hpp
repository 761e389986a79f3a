#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/backend/backend.hpp"

namespace rankcheck::harness::run {

/// Backends that are programs of the user's. On the command line, such a backend is the prefix and
/// what it applies to.
struct UserPrograms {
  std::string prefix;
  /// What stands behind the prefix, in messages: LINE, FILE.
  std::string placeholder;
  std::string summary;
  /// Says in one line why the program that `what` names cannot be a backend. Empty if it can be
  /// tried.
  std::string (*why_unavailable)(const std::string& what) = nullptr;
  std::unique_ptr<Backend> (*open)(const std::string& what,
                                   const BackendOptions& options) = nullptr;
  /// Whether only one such backend can be open at a time. A run then has one job.
  bool is_single = false;
  /// The most ranks that the backend may start when it is opened. 0 if it starts none.
  int ranks_max = 0;
  /// A backend whose entries in suites, and whose name if it is free, are this one's, too. Empty if
  /// there is none.
  std::string stands_for = {};
};

/// A backend with its name on the command line.
struct NamedBackend {
  std::string name;
  std::string summary;
  /// Why the backend cannot run here and what to do about it. Empty if it can run.
  std::string unavailable;
  /// The algorithms that are built into a backend that cannot run here.
  std::vector<AlgorithmInfo> compiled = {};
};

/// All backends that a program offers. The harness knows none of them by name: what is special
/// about a backend is a member of its entry.
class AvailableBackends {
 public:
  /// `entries` are the built-in backends in the order of reports.
  AvailableBackends(std::vector<BackendEntry> entries, std::vector<UserPrograms> programs)
      : entries_(std::move(entries)), programs_(std::move(programs)) {}

  [[nodiscard]] std::span<const BackendEntry> entries() const { return entries_; }
  [[nodiscard]] std::span<const UserPrograms> programs() const { return programs_; }
  /// Returns the entry of a built-in backend, or null if the name belongs to none.
  [[nodiscard]] const BackendEntry* find_entry(std::string_view name) const;

  /// Returns the built-in backends.
  [[nodiscard]] std::vector<NamedBackend> known() const;
  /// Finds a backend by its name. Throws BadInput if no backend has the name.
  [[nodiscard]] NamedBackend find(const std::string& name) const;
  /// Throws BadInput if the backend is unknown or cannot run here.
  void require(const std::string& name) const;
  /// Returns the name that reports give to the code behind a command. `own` is what the code calls
  /// itself. Two commands may host code of the same name, for example two versions of it, or code
  /// with the name of a built-in backend. A name that is built in or `taken` gets a number. A
  /// backend that stands for a built-in one has the name of this one unless it is taken.
  [[nodiscard]] std::string name_of_subject(const std::string& command,
                                            std::string own,
                                            const std::set<std::string>& taken) const;
  /// Returns the built-in backend for which a backend stands. Empty if there is none.
  [[nodiscard]] std::string stands_for(std::string_view name) const;
  /// Returns the most ranks that a backend may start when it is opened. 0 if it starts none.
  [[nodiscard]] int ranks_to_start(std::string_view name) const;
  /// Whether a run on this backend can have several jobs.
  [[nodiscard]] bool takes_jobs(std::string_view name) const;
  /// Opens a backend. Throws BadInput if it is unknown, cannot run here or starts fewer ranks.
  [[nodiscard]] std::unique_ptr<Backend> open(const std::string& name,
                                              const BackendOptions& options) const;

 private:
  /// Returns the kind of program whose prefix the name has, or null if there is none.
  [[nodiscard]] const UserPrograms* find_programs(std::string_view name) const;

  std::vector<BackendEntry> entries_;
  std::vector<UserPrograms> programs_;
};

/// Throws BadInput if `ranks` is above the most that the backend may start.
void require_ranks(std::string_view backend, int ranks, int ranks_max);

}  // namespace rankcheck::harness::run
