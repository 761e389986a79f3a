#include "cases/commands/archive.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <zip.h>

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/report/report.hpp"
#include "harness/run/outputs.hpp"

namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using harness::BadInput;
using harness::FileError;

constexpr const char* left_out_name = "LEFT_OUT.txt";

/// A zip file that is being written. close() replaces the file on disk as a whole.
class ZipFile {
 public:
  explicit ZipFile(const fs::path& path) : path_(path) {
    int code = 0;
    zip_ = ::zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (zip_ != nullptr) return;
    zip_error_t error;
    ::zip_error_init_with_code(&error, code);
    const std::string why = ::zip_error_strerror(&error);
    ::zip_error_fini(&error);
    fail(why);
  }
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;
  ~ZipFile() {
    if (zip_ != nullptr) ::zip_discard(zip_);
  }

  void add_file(const std::string& name, const fs::path& file) {
    add(name, ::zip_source_file(zip_, file.c_str(), 0, -1));
  }
  /// `text` must outlive close().
  void add_text(const std::string& name, const std::string& text) {
    add(name, ::zip_source_buffer(zip_, text.data(), text.size(), 0));
  }
  void close() {
    if (::zip_close(zip_) != 0) fail(::zip_strerror(zip_));
    zip_ = nullptr;
  }

 private:
  void add(const std::string& name, zip_source_t* source) {
    if (source == nullptr || ::zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8) < 0) {
      const std::string why = ::zip_strerror(zip_);
      ::zip_source_free(source);
      fail(why);
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw FileError(fmt::format("cannot write: {}: {}", path_.string(), why));
  }

  fs::path path_;
  zip_t* zip_ = nullptr;
};

/// Returns the files below the folder, except the archive itself, by their names in the archive.
std::map<std::string, fs::path> files_below(const fs::path& folder, const fs::path& archive) {
  std::map<std::string, fs::path> files;
  std::error_code unknown;
  for (const fs::directory_entry& each : fs::recursive_directory_iterator(folder)) {
    if (!each.is_regular_file() || fs::equivalent(each.path(), archive, unknown)) continue;
    files[fs::relative(each.path(), folder).generic_string()] = each.path();
  }
  return files;
}

void write(const fs::path& path,
           const std::map<std::string, fs::path>& files,
           const std::vector<std::string>& left_out) {
  std::string names;
  for (const std::string& each : left_out) names += each + '\n';
  ZipFile archive(path);
  for (const auto& [name, file] : files) archive.add_file(name, file);
  if (!names.empty()) archive.add_text(left_out_name, names);
  archive.close();
}

/// Returns the name of the file that takes most of the archive among the files that may be left
/// out. Empty if there is none.
std::string largest_in(const fs::path& path) {
  const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(
      ::zip_open(path.c_str(), ZIP_RDONLY, nullptr), ::zip_discard);
  std::string largest;
  std::uint64_t most = 0;
  const std::int64_t count = archive ? ::zip_get_num_entries(archive.get(), 0) : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    zip_stat_t entry;
    if (::zip_stat_index(archive.get(), static_cast<std::uint64_t>(i), 0, &entry) != 0) continue;
    const std::string name = entry.name;
    const bool stays =
        name == harness::report_name || name == "summary.md" || name == left_out_name;
    if (stays || entry.comp_size < most) continue;
    most = entry.comp_size;
    largest = name;
  }
  return largest;
}

}  // namespace

void require_archive(const std::string& path) {
  try {
    harness::run::require_writable_file(path);
  } catch (const BadInput& bad) {
    throw BadInput(std::string("--archive: ") + bad.what());
  }
  // The required suffix prevents that a journal or a report is replaced by mistake.
  if (!path.ends_with(".zip")) {
    throw BadInput(fmt::format("--archive: {}: expected a name that ends with .zip", path));
  }
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return;
  std::string begin(2, ' ');
  if (fs::is_regular_file(path, unknown)) {
    std::ifstream(path, std::ios::binary).read(begin.data(), 2);
  }
  if (begin != "PK") {
    throw BadInput(
        fmt::format("--archive: {}: expected a new file, or an archive to replace", path));
  }
}

std::vector<std::string> write_archive(const fs::path& folder,
                                       const fs::path& path,
                                       std::int64_t bytes_max) {
  std::vector<std::string> left_out;
  try {
    std::map<std::string, fs::path> files = files_below(folder, path);
    write(path, files, left_out);
    while (static_cast<std::int64_t>(fs::file_size(path)) > bytes_max) {
      const std::string largest = largest_in(path);
      if (largest.empty()) break;
      left_out.push_back(largest);
      files.erase(largest);
      write(path, files, left_out);
    }
  } catch (const fs::filesystem_error& error) {
    throw FileError(fmt::format("cannot pack: {}: {}", folder.string(), error.code().message()));
  }
  return left_out;
}

void pack(const fs::path& folder, const std::string& path, std::int64_t bytes_max) {
  if (path.empty()) return;
  const std::vector<std::string> left_out = write_archive(folder, path, bytes_max);
  fmt::print("archive: {}, {} bytes\n",
             path,
             harness::grouped(static_cast<std::int64_t>(fs::file_size(path))));
  for (const std::string& each : left_out) {
    fmt::print("archive: left out, because it is too large: {}\n", harness::printable(each));
  }
}

}  // namespace rankcheck::cases
