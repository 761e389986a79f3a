#include <algorithm>
#include <array>
#include <complex>

#include <H5Cpp.h>
#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"

#include "cases/reconstruct/hdf5.hpp"
#include "cases/reconstruct/hdf5_types.hpp"

namespace rankcheck::cases::reconstruct::hdf5 {

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

}  // namespace

struct Writer::Implementation {
  H5::H5File file;

  /// Creates the groups on the way to a name.
  void make_groups(const std::string& name) const {
    for (std::size_t end = name.find('/'); end != name.npos; end = name.find('/', end + 1)) {
      const std::string group = name.substr(0, end);
      if (!file.nameExists(group)) file.createGroup(group);
    }
  }

  void write(const std::string& name,
             const Shape& shape,
             const H5::DataType& in_memory,
             const H5::DataType& in_file,
             const void* values,
             bool compressed) const {
    make_groups(name);
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    const H5::DataSpace space =
        shape.empty() ? H5::DataSpace(H5S_SCALAR)
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
    const H5::DataSet dataset = file.createDataSet(name, in_file, space, properties);
    if (space.getSimpleExtentNpoints() > 0) dataset.write(values, in_memory);
  }
};

Writer::Writer() : implementation_(std::make_unique<Implementation>()) {
  H5::Exception::dontPrint();
  constexpr std::size_t growth_bytes = 1 << 20;
  H5::FileAccPropList access;
  access.setCore(growth_bytes, false);
  implementation_->file =
      H5::H5File("in memory", H5F_ACC_TRUNC, H5::FileCreatPropList::DEFAULT, access);
}

Writer::~Writer() = default;

template <class T>
void Writer::numbers(const std::string& name,
                     const Shape& shape,
                     const std::vector<T>& values,
                     Storage storage) {
  implementation_->write(
      name, shape, native<T>(), type_of(storage.number), values.data(), storage.compressed);
}

void Writer::complex(const std::string& name,
                     const Shape& shape,
                     const std::vector<std::complex<float>>& values) {
  const H5::CompType type = complex_type("r", "i");
  implementation_->write(name, shape, type, type, values.data(), false);
}

void Writer::string(const std::string& name, const std::string& value) {
  const H5::StrType type(H5::PredType::C_S1, H5T_VARIABLE);
  const char* const characters = value.c_str();
  implementation_->write(name, {}, type, type, &characters, false);
}

void Writer::link(const std::string& name, const std::string& target) {
  implementation_->make_groups(name);
  implementation_->file.link(H5L_TYPE_SOFT, '/' + target, name);
}

void Writer::attribute(const std::string& dataset,
                       const std::string& name,
                       const std::string& value) {
  const H5::StrType type(H5::PredType::C_S1, H5T_VARIABLE);
  implementation_->file.openDataSet(dataset)
      .createAttribute(name, type, H5::DataSpace(H5S_SCALAR))
      .write(type, value);
}

void Writer::save(const std::filesystem::path& path, bool is_sealed) {
  implementation_->file.flush(H5F_SCOPE_GLOBAL);
  const hid_t file = implementation_->file.getId();
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  std::string image(spec::to_size(std::max<ssize_t>(size, 0)), '\0');
  if (size < 0 || H5Fget_file_image(file, image.data(), image.size()) < 0) {
    throw harness::FileError(fmt::format("cannot write: {}: {}", path.string(), last_complaint()));
  }
  implementation_->file.close();
  harness::write_file(path, is_sealed ? harness::sealed(std::move(image)) : image);
}

template void Writer::numbers(const std::string&, const Shape&, const std::vector<float>&, Storage);
template void Writer::numbers(const std::string&,
                              const Shape&,
                              const std::vector<double>&,
                              Storage);

}  // namespace rankcheck::cases::reconstruct::hdf5
