#include "cases/reconstruct/hdf5.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>

#include <H5Cpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/case/case.hpp"
#include "harness/run/memory.hpp"

#include "cases/reconstruct/crash_guard.hpp"

namespace rankcheck::cases::reconstruct::hdf5 {

namespace {

using harness::BadInput;

/// Returns the type of float or double in memory.
template <class T>
const H5::PredType& native() {
  return sizeof(T) == sizeof(float) ? H5::PredType::NATIVE_FLOAT : H5::PredType::NATIVE_DOUBLE;
}

/// Returns the type of two floats with these names; the real part comes first.
H5::CompType complex_type(const std::string& real, const std::string& imaginary) {
  H5::CompType type(2 * sizeof(float));
  type.insertMember(real, 0, H5::PredType::NATIVE_FLOAT);
  type.insertMember(imaginary, sizeof(float), H5::PredType::NATIVE_FLOAT);
  return type;
}

/// Returns the library's innermost complaint about the last call.
std::string last_complaint() {
  std::string complaint = "no reason given";
  const H5E_walk2_t visit = [](unsigned number, const H5E_error2_t* error, void* out) -> herr_t {
    if (number == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &complaint);
  return complaint;
}

std::string describe(H5T_class_t kind) {
  switch (kind) {
    case H5T_INTEGER:
      return "integers";
    case H5T_FLOAT:
      return "real numbers";
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "compounds";
    default:
      return "something else";
  }
}

bool is_number(H5T_class_t kind) {
  // Python writes booleans as enumerations.
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

Shape shape_of(const H5::DataSpace& space) {
  std::vector<hsize_t> extents(spec::to_size(space.getSimpleExtentNdims()));
  if (!extents.empty()) space.getSimpleExtentDims(extents.data());
  return {extents.begin(), extents.end()};
}

std::size_t count_of(const Shape& shape) {
  return spec::to_size(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

/// Returns the target of a link as the file names it: a dataset, or a dataset of another file.
std::string target_of(hid_t file, const std::string& link) {
  H5L_info_t info{};
  if (H5Lget_info(file, link.c_str(), &info, H5P_DEFAULT) < 0) return "nothing";
  std::string value(info.u.val_size, '\0');
  const bool is_symbolic = info.type == H5L_TYPE_SOFT || info.type == H5L_TYPE_EXTERNAL;
  if (!is_symbolic || H5Lget_val(file, link.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0) {
    return "nothing";
  }
  if (info.type == H5L_TYPE_SOFT) return value.c_str();
  const char* name = nullptr;
  const char* dataset = nullptr;
  if (H5Lunpack_elink_val(value.data(), value.size(), nullptr, &name, &dataset) < 0) {
    return "nothing";
  }
  return fmt::format("{} of {}", dataset, name);
}

}  // namespace

std::string text(const Shape& shape) {
  if (shape.empty()) return "a single value";
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) {
    extents.push_back(extent < 0 ? "any" : fmt::format("{}", extent));
  }
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

Reader::Reader(const std::filesystem::path& path)
    : path_(path), file_(std::make_unique<H5::H5File>()) {
  H5::Exception::dontPrint();
  // The system's error messages say more than the library's.
  harness::require_regular_file(path);
  H5::FileAccPropList access;
#if H5_VERSION_GE(1, 10, 7)
  // Readers need no lock, and some file systems do not support locks.
  H5Pset_file_locking(access.getId(), false, true);
#endif
  const CrashGuard guard(path);
  try {
    file_->openFile(path.string(), H5F_ACC_RDONLY, access);
  } catch (const H5::Exception&) {
    throw BadInput(fmt::format("{}: is no HDF5 file: {}", path.string(), last_complaint()));
  }
}

Reader::~Reader() = default;

void Reader::reject(const std::string& name,
                    std::string_view expected,
                    std::string_view found) const {
  throw BadInput(
      fmt::format("{}: {}: found {}, expected {}", path_.string(), name, found, expected));
}

template <class T>
void Reader::require_finite(const std::string& name, const std::vector<T>& values) const {
  const auto bad = std::find_if(values.begin(), values.end(), [](std::complex<double> value) {
    return !std::isfinite(value.real()) || !std::isfinite(value.imag());
  });
  if (bad == values.end()) return;
  reject(name, "finite numbers", fmt::format("infinity or NaN at {}", bad - values.begin()));
}
template void Reader::require_finite(const std::string&, const std::vector<float>&) const;
template void Reader::require_finite(const std::string&, const std::vector<double>&) const;
template void Reader::require_finite(const std::string&,
                                     const std::vector<std::complex<float>>&) const;

bool Reader::has(const std::string& name) const {
  const CrashGuard guard(path_);
  const hid_t file = file_->getId();
  for (std::size_t end = 0; end != std::string::npos;) {
    end = name.find('/', end + 1);
    const std::string part = name.substr(0, end);
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0) {
      reject(part,
             "a group or dataset",
             fmt::format("a link to {}, which is missing", target_of(file, part)));
    }
  }
  return true;
}

std::string Reader::first_of(const std::vector<std::string>& names,
                             std::string_view expected) const {
  for (const std::string& name : names) {
    if (has(name)) return name;
  }
  reject(fmt::format("{}", fmt::join(names, " or ")), expected, "no such dataset");
}

std::vector<std::string> Reader::members(const std::string& group) const {
  std::vector<std::string> names;
  const CrashGuard guard(path_);
  try {
    const H5::Group opened = file_->openGroup(group);
    for (hsize_t i = 0; i < opened.getNumObjs(); ++i) names.push_back(opened.getObjnameByIdx(i));
  } catch (const H5::Exception&) {
    reject(group, "a group", "something else");
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  });
  return names;
}

namespace {

/// Rejects a dataset in its own header that has fewer bytes than its shape needs. The library does
/// not check this and would read beyond the end.
void require_whole(const Reader& reader, const std::string& name, const H5::DataSet& dataset) {
  if (dataset.getCreatePlist().getLayout() != H5D_COMPACT) return;
  const hssize_t count = dataset.getSpace().getSimpleExtentNpoints();
  const hsize_t bytes = static_cast<hsize_t>(count) * dataset.getDataType().getSize();
  const hsize_t stored = dataset.getStorageSize();
  if (stored >= bytes) return;
  reader.reject(name, fmt::format("{}", bytes), fmt::format("{} bytes", stored));
}

/// Rejects an array that does not fit into this machine's memory.
void require_room(const Reader& reader,
                  const std::string& name,
                  const Shape& shape,
                  std::size_t value_bytes) {
  const double bytes = std::accumulate(
      shape.begin(),
      shape.end(),
      static_cast<double>(value_bytes),
      [](double product, std::int64_t extent) { return product * static_cast<double>(extent); });
  harness::run::require_memory(fmt::format("{}: {}", reader.path().string(), name),
                               fmt::format("the numbers of {}", text(shape)),
                               bytes);
}

void require_numbers(const Reader& reader, const std::string& name, const H5::DataSet& dataset) {
  if (is_number(dataset.getTypeClass())) return;
  reader.reject(name, "numbers", describe(dataset.getTypeClass()));
}

/// Returns the name of a filter. `number` is its number in the list of the HDF Group.
std::string name_of_filter(H5Z_filter_t number, std::string_view stored) {
  struct Known {
    H5Z_filter_t number;
    std::string_view name;
  };
  constexpr std::array all{Known{307, "bzip2"},
                           Known{32000, "LZF"},
                           Known{32001, "Blosc"},
                           Known{32004, "LZ4"},
                           Known{32008, "bitshuffle"},
                           Known{32013, "ZFP"},
                           Known{32015, "Zstandard"},
                           Known{32017, "SZ"},
                           Known{32026, "Blosc2"}};
  for (const Known& each : all) {
    if (each.number == number) return fmt::format("{} ({})", each.name, number);
  }
  return stored.empty() ? fmt::format("{}", number) : fmt::format("{:.40} ({})", stored, number);
}

/// Rejects data that the library could not read. If a filter is missing, the message names it.
[[noreturn]] void fail_to_read(const Reader& reader,
                               const std::string& name,
                               const H5::DataSet& dataset) {
  const std::string complaint = last_complaint();
  const H5::DSetCreatPropList properties = dataset.getCreatePlist();
  for (int i = 0; i < properties.getNfilters(); ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::size_t values = 0;
    std::array<char, 64> stored{};
    const H5Z_filter_t number =
        properties.getFilter(i, flags, values, nullptr, stored.size() - 1, stored.data(), config);
    if (H5Zfilter_avail(number) > 0) continue;
    reader.reject(name,
                  fmt::format("the HDF5 filter {} in a folder of HDF5_PLUGIN_PATH",
                              name_of_filter(number, stored.data())),
                  "data that a missing filter compressed");
  }
  reader.reject(name, "readable data", complaint);
}

/// Whether both members of a compound lie within it and do not overlap. The library does not check
/// this.
bool has_both_members(const H5::CompType& type) {
  const auto begin = [&](unsigned i) { return type.getMemberOffset(i); };
  const auto end = [&](unsigned i) { return begin(i) + type.getMemberDataType(i).getSize(); };
  const bool are_apart = end(0) <= begin(1) || end(1) <= begin(0);
  return are_apart && std::max(end(0), end(1)) <= type.getSize();
}

/// Reads a whole dataset as `type` into `array`.
template <class T>
void read_all(const Reader& reader,
              const std::string& name,
              const H5::DataSet& dataset,
              const H5::DataType& type,
              Array<T>& array) {
  array.shape = shape_of(dataset.getSpace());
  require_room(reader, name, array.shape, sizeof(T));
  array.values.resize(dataset.getSpace().getSimpleExtentType() == H5S_NULL ? 0
                                                                           : count_of(array.shape));
  if (array.values.empty()) return;
  if (H5Dread(dataset.getId(), type.getId(), H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()) <
      0) {
    fail_to_read(reader, name, dataset);
  }
}

}  // namespace

template <class Use>
auto Reader::with_dataset(const std::string& name, const Use& use) const {
  if (!has(name)) reject(name, "a dataset", "none");
  const CrashGuard guard(path_);
  H5::DataSet dataset;
  try {
    dataset = file_->openDataSet(name);
  } catch (const H5::Exception&) {
    reject(name, "a dataset", "something else");
  }
  try {
    require_whole(*this, name, dataset);
    return use(dataset);
  } catch (const H5::Exception&) {
    reject(name, "readable data", last_complaint());
  }
}

Shape Reader::shape(const std::string& name) const {
  return with_dataset(name,
                      [](const H5::DataSet& dataset) { return shape_of(dataset.getSpace()); });
}

template <class T>
Array<T> Reader::numbers(const std::string& name) const {
  return with_dataset(name, [&](const H5::DataSet& dataset) {
    require_numbers(*this, name, dataset);
    Array<T> array;
    read_all(*this, name, dataset, native<T>(), array);
    return array;
  });
}

void Reader::rows(const std::string& name,
                  std::int64_t first,
                  std::int64_t count,
                  std::vector<float>& values) const {
  with_dataset(name, [&](const H5::DataSet& dataset) {
    require_numbers(*this, name, dataset);
    Shape shape = shape_of(dataset.getSpace());
    if (shape.empty() || first + count > shape.front()) {
      reject(name, fmt::format("rows {} to {}", first, first + count - 1), text(shape));
    }
    shape.front() = count;
    require_room(*this, name, shape, sizeof(float));
    values.resize(count_of(shape));
    if (values.empty()) return;
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    std::vector<hsize_t> begin(extents.size(), 0);
    begin.front() = static_cast<hsize_t>(first);
    const H5::DataSpace memory(static_cast<int>(extents.size()), extents.data());
    const H5::DataSpace file = dataset.getSpace();
    file.selectHyperslab(H5S_SELECT_SET, extents.data(), begin.data());
    if (H5Dread(dataset.getId(),
                native<float>().getId(),
                memory.getId(),
                file.getId(),
                H5P_DEFAULT,
                values.data()) < 0) {
      fail_to_read(*this, name, dataset);
    }
  });
}

std::int64_t Reader::rows_together(const std::string& name) const {
  return with_dataset(name, [](const H5::DataSet& dataset) {
    const H5::DSetCreatPropList layout = dataset.getCreatePlist();
    if (layout.getLayout() != H5D_CHUNKED) return std::int64_t{1};
    std::vector<hsize_t> extents(shape_of(dataset.getSpace()).size());
    layout.getChunk(static_cast<int>(extents.size()), extents.data());
    return static_cast<std::int64_t>(extents.front());
  });
}

std::optional<float> Reader::counts_end(const std::string& name) const {
  using End = std::optional<float>;
  return with_dataset(name, [](const H5::DataSet& dataset) -> End {
    if (dataset.getTypeClass() != H5T_INTEGER) return std::nullopt;
    const H5::IntType type = dataset.getIntType();
    if (type.getSign() != H5T_SGN_NONE) return std::numeric_limits<float>::infinity();
    return static_cast<float>(std::ldexp(1.0, static_cast<int>(type.getPrecision())) - 1);
  });
}

double Reader::number(const std::string& name) const {
  const Array<double> array = numbers<double>(name);
  if (array.values.size() != 1) reject(name, "a single number", text(array.shape));
  return array.values.front();
}

Array<std::complex<float>> Reader::complex(const std::string& name) const {
  return with_dataset(name, [&](const H5::DataSet& dataset) {
    Array<std::complex<float>> array;
    if (is_number(dataset.getTypeClass())) {
      const Array<float> real = numbers<float>(name);
      array.shape = real.shape;
      array.values.assign(real.values.begin(), real.values.end());
      return array;
    }
    constexpr std::string_view expected = "complex numbers: compounds of two numbers r and i";
    if (dataset.getTypeClass() != H5T_COMPOUND) {
      reject(name, expected, describe(dataset.getTypeClass()));
    }
    const H5::CompType stored = dataset.getCompType();
    const bool is_complex = stored.getNmembers() == 2 && stored.getMemberName(0).starts_with('r') &&
                            stored.getMemberName(1).starts_with('i') &&
                            is_number(stored.getMemberClass(0)) &&
                            is_number(stored.getMemberClass(1)) && has_both_members(stored);
    if (!is_complex) reject(name, expected, "other compounds");
    read_all(*this,
             name,
             dataset,
             complex_type(stored.getMemberName(0), stored.getMemberName(1)),
             array);
    return array;
  });
}

std::string Reader::string(const std::string& name) const {
  return with_dataset(name, [&](const H5::DataSet& dataset) {
    if (dataset.getTypeClass() != H5T_STRING) {
      reject(name, "text", describe(dataset.getTypeClass()));
    }
    H5std_string value;
    dataset.read(value, dataset.getStrType());
    return value;
  });
}

std::string Reader::attribute(const std::string& dataset, const std::string& attribute) const {
  return with_dataset(dataset, [&](const H5::DataSet& opened) {
    H5std_string value;
    if (!opened.attrExists(attribute)) return value;
    const H5::Attribute found = opened.openAttribute(attribute);
    if (found.getTypeClass() != H5T_STRING) return value;
    found.read(found.getStrType(), value);
    return value;
  });
}

template Array<float> Reader::numbers(const std::string& name) const;
template Array<double> Reader::numbers(const std::string& name) const;

// --- writer --------------------------------------------------------------------------------------
namespace {

const H5::PredType& type_of(Number number) {
  static const std::array<const H5::PredType*, 10> types{&H5::PredType::STD_I8LE,
                                                         &H5::PredType::STD_U8LE,
                                                         &H5::PredType::STD_I16LE,
                                                         &H5::PredType::STD_U16LE,
                                                         &H5::PredType::STD_I32LE,
                                                         &H5::PredType::STD_U32LE,
                                                         &H5::PredType::STD_I64LE,
                                                         &H5::PredType::STD_U64LE,
                                                         &H5::PredType::IEEE_F32LE,
                                                         &H5::PredType::IEEE_F64LE};
  return *types[spec::to_size(number)];
}

/// Lets the groups in a name be created.
H5::LinkCreatPropList with_groups() {
  H5::LinkCreatPropList properties;
  properties.setCreateIntermediateGroup(true);
  return properties;
}

void write(const H5::H5File& file,
           const std::string& name,
           const Shape& shape,
           const H5::DataType& in_memory,
           const H5::DataType& in_file,
           const void* values,
           bool compressed = false) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const H5::DataSpace space = shape.empty()
                                  ? H5::DataSpace(H5S_SCALAR)
                                  : H5::DataSpace(static_cast<int>(extents.size()), extents.data());
  H5::DSetCreatPropList properties;
  // Without times, equal contents give equal bytes.
  H5Pset_obj_track_times(properties.getId(), false);
  if (compressed) {
    std::vector<hsize_t> chunk = extents;
    chunk.front() = 1;
    properties.setChunk(static_cast<int>(chunk.size()), chunk.data());
    properties.setShuffle();
    properties.setDeflate(4);
  }
  const H5::DataSet dataset = file.createDataSet(
      name, in_file, space, properties, H5::DSetAccPropList::DEFAULT, with_groups());
  if (space.getSimpleExtentNpoints() > 0) dataset.write(values, in_memory);
}

}  // namespace

Writer::Writer() {
  H5::Exception::dontPrint();
  constexpr std::size_t growth_bytes = 1 << 20;
  H5::FileAccPropList access;
  access.setCore(growth_bytes, false);
  file_ = std::make_unique<H5::H5File>(
      "in memory", H5F_ACC_TRUNC, H5::FileCreatPropList::DEFAULT, access);
}

Writer::~Writer() = default;

template <class T>
void Writer::numbers(const std::string& name,
                     const Shape& shape,
                     const std::vector<T>& values,
                     Storage storage) {
  write(
      *file_, name, shape, native<T>(), type_of(storage.number), values.data(), storage.compressed);
}

void Writer::complex(const std::string& name,
                     const Shape& shape,
                     const std::vector<std::complex<float>>& values) {
  const H5::CompType type = complex_type("r", "i");
  write(*file_, name, shape, type, type, values.data());
}

void Writer::string(const std::string& name, const std::string& value) {
  const H5::StrType type(H5::PredType::C_S1, H5T_VARIABLE);
  const char* const characters = value.c_str();
  write(*file_, name, {}, type, type, &characters);
}

void Writer::link(const std::string& name, const std::string& target) {
  file_->link('/' + target, name, with_groups());
}

void Writer::attribute(const std::string& dataset,
                       const std::string& name,
                       const std::string& value) {
  const H5::StrType type(H5::PredType::C_S1, H5T_VARIABLE);
  file_->openDataSet(dataset)
      .createAttribute(name, type, H5::DataSpace(H5S_SCALAR))
      .write(type, value);
}

void Writer::save(const std::filesystem::path& path, bool is_sealed) {
  file_->flush(H5F_SCOPE_GLOBAL);
  const hid_t file = file_->getId();
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  std::string image(spec::to_size(std::max<ssize_t>(size, 0)), '\0');
  if (size < 0 || H5Fget_file_image(file, image.data(), image.size()) < 0) {
    throw harness::FileError(fmt::format("cannot write: {}: {}", path.string(), last_complaint()));
  }
  file_->close();
  harness::write_file(path, is_sealed ? harness::sealed(std::move(image)) : image);
}

template void Writer::numbers(const std::string&, const Shape&, const std::vector<float>&, Storage);
template void Writer::numbers(const std::string&,
                              const Shape&,
                              const std::vector<double>&,
                              Storage);

}  // namespace rankcheck::cases::reconstruct::hdf5
