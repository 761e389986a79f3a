#include <cmath>
#include <complex>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/hdf5.hpp"
#include "cases/reconstruct/recording.hpp"
#include "tests/cases/reconstruct/reading.hpp"
#include "tests/memory.hpp"

/// Files that are not valid scans, and the complaints about them.
namespace rankcheck::cases::reconstruct {
namespace {

TEST_F(ReadTest, RejectsFilesThatAreNoHdf5) {
  harness::write_file(path_, "CXI, I promise\n");
  try {
    static_cast<void>(read_dataset(path_));
    FAIL();
  } catch (const harness::BadInput& bad) {
    EXPECT_TRUE(std::string(bad.what()).starts_with(path_.string() + ": is no HDF5 file"))
        << bad.what();
  }
  EXPECT_THROW(static_cast<void>(read_dataset(folder_.path())), harness::FileError);
  EXPECT_THROW(static_cast<void>(read_dataset(folder_.path() / "none")), harness::FileError);
}

TEST_F(ReadTest, RejectsTruncatedFiles) {
  write(path_, small_scan());
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  EXPECT_THROW(static_cast<void>(read_dataset(path_)), harness::BadInput);
}

/// Replaces `from`, which the file must contain, at every place.
void patch(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  std::string bytes = harness::read_file(path);
  std::size_t at = bytes.find(from);
  ASSERT_NE(at, std::string::npos);
  for (; at != std::string::npos; at = bytes.find(from, at + to.size())) {
    bytes.replace(at, from.size(), to);
  }
  harness::write_file(path, bytes);
}

/// The HDF5 library itself would read past the bytes of such a file.
TEST_F(ReadTest, RejectsDatasetsWithFewerBytesThanTheirShapes) {
  write(path_, small_scan());
  // The file's layout message says where the frames' 3 × 4 × 4 × 8 bytes lie. Zeros make the
  // dataset a compact one without bytes. A compact dataset has its bytes in the header.
  std::string bytes = harness::read_file(path_);
  const std::string size{"\x80\x01\0\0\0\0\0\0", 8};
  const std::size_t at = bytes.find(size);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes.substr(at - 10, 2), "\3\1");
  bytes.replace(at - 9, 17, std::string(17, '\0'));
  harness::write_file(path_, bytes);
  try {
    static_cast<void>(read_dataset(path_));
    FAIL();
  } catch (const harness::BadInput& bad) {
    EXPECT_EQ(bad.what(), path_.string() + ": " + detector_1 + "data: found 0 bytes, expected 384");
  }
}

TEST_F(ReadTest, RejectsComplexNumbersWhosePartsLieElsewhere) {
  const std::string probe = source_1 + "illumination";
  write(path_,
        with(small_scan(), {complex(probe, {1, 4, 4}, std::vector<std::complex<float>>(16, 1))}));
  // The bytes of the padded name of the imaginary part. They precede its offset in the compound.
  const std::string name("i\0\0\0\0\0\0\0", 8);
  for (const char offset : {'\5', '\2', '\x7f'}) {
    write(path_,
          with(small_scan(), {complex(probe, {1, 4, 4}, std::vector<std::complex<float>>(16, 1))}));
    patch(path_, name + '\4', name + offset);
    try {
      static_cast<void>(read_dataset(path_));
      FAIL();
    } catch (const harness::BadInput& bad) {
      EXPECT_TRUE(std::string(bad.what()).starts_with(path_.string() + ": " + probe)) << bad.what();
    }
  }
}

#if !RANKCHECK_HAS_SANITIZER
/// The text's length is stored in a heap of the file, and the HDF5 library trusts it. A sanitizer
/// would report the bad read itself.
TEST_F(ReadTest, CallsACrashOfTheLibraryBadInput) {
  write(path_, with(small_scan(), {in_units(number(detector_1 + "distance", 1), "metres")}));
  std::string bytes = harness::read_file(path_);
  const std::size_t text = bytes.find("metres");
  ASSERT_NE(text, std::string::npos);
  bytes[text - 5] = '\x40';
  harness::write_file(path_, bytes);
  EXPECT_EXIT(static_cast<void>(read_dataset(path_)),
              testing::ExitedWithCode(2),
              "^rankcheck: .*/scan.cxi: found a file on which the library crashes, expected "
              "an HDF5 file\n$");
}
#endif

TEST_F(ReadTest, RejectsFramesThatNoMemoryHolds) {
  write(path_, small_scan());
  const hdf5::Reader file(path_);
  const auto complaint = [&](const hdf5::Shape& shape) -> std::string {
    try {
      require_frames(file, "data", shape);
    } catch (const harness::BadInput& bad) {
      return std::string(bad.what()).substr(path_.string().size());
    }
    return "nothing";
  };
  const auto expect_needs = [&](const hdf5::Shape& shape, const std::string& what) {
    const std::string text = complaint(shape);
    EXPECT_TRUE(text.starts_with(": data: " + what)) << text;
    EXPECT_NE(text.find(" of this machine's memory"), std::string::npos) << text;
  };
  expect_needs({9, 1000000, 1000000},
               "the arrays for one frame of 1000000 × 1000000 take 29802.3 GiB");
  expect_needs({9, 1, 1000000}, "the arrays for one frame of 1000000 × 1000000 take 29802.3 GiB");
  expect_needs({std::int64_t{1} << 40, 512, 512}, "1099511627776 frames of 512 × 512 take");
  EXPECT_EQ(complaint({100, 128, 128}), "nothing");
}

TEST_F(ReadTest, RejectsMissingParts) {
  expect_rejected(without(small_scan(), {detector_1 + "data"}),
                  detector_1 + "data or entry_1/data_1/data",
                  "found no such dataset, expected [positions, rows, columns]");
  expect_rejected(without(small_scan(), {detector_1 + "distance"}),
                  detector_1 + "distance",
                  "found no such dataset, expected metres");
  expect_rejected(without(small_scan(), {source_1 + "wavelength"}),
                  source_1 + "wavelength or " + source_1 + "energy",
                  "found no such dataset, expected metres or joules");
  expect_rejected(without(small_scan(), {translation_1}),
                  translation_1 + " or entry_1/data_1/translation or " + detector_1 + "translation",
                  "found no such dataset, expected (x, y, z) in metres for each frame");
}

TEST_F(ReadTest, RejectsFramesOfOtherShapes) {
  const std::string name = detector_1 + "data";
  expect_rejected(with(small_scan(), {numbers(name, {4, 4}, std::vector<double>(16, 1))}),
                  name,
                  "found [4, 4], expected [positions, rows, columns]");
  expect_rejected(with(small_scan(), {numbers(name, {3, 0, 2}, {})}),
                  name,
                  "found [3, 0, 2], expected [positions, rows, columns]");
  expect_rejected(with(small_scan(), {numbers(name, {0, 4, 4}, {})}),
                  name,
                  "found none, expected at least one frame");
  const Part words{name, [](hdf5::Writer& file, const auto& path) { file.string(path, "bright"); }};
  expect_rejected(with(small_scan(), {words}),
                  name,
                  "found a single value, expected [positions, rows, columns]");
}

TEST_F(ReadTest, RejectsIntensitiesThatAreNone) {
  std::vector<double> frames(48, 1);
  frames[20] = -2;
  const std::string name = detector_1 + "data";
  const std::string expected =
      " in frame 1, expected finite numbers, none negative, wherever the mask has none";
  expect_rejected(
      with(small_scan(), {numbers(name, {3, 4, 4}, frames)}), name, "found -2" + expected);
  frames[20] = std::nan("");
  expect_rejected(
      with(small_scan(), {numbers(name, {3, 4, 4}, frames)}), name, "found nan" + expected);
  frames[20] = 1e300;
  expect_rejected(
      with(small_scan(), {numbers(name, {3, 4, 4}, frames)}), name, "found inf" + expected);
}

TEST_F(ReadTest, RejectsFramesAndProbesWithoutLight) {
  const std::string name = detector_1 + "data";
  const std::string most = "2.13e+37, as single precision needs it";
  const std::string expected =
      ", expected light: intensities that add up to more than 0 and at most " + most;
  const auto frames = [&](double value) {
    return with(small_scan(), {numbers(name, {3, 4, 4}, std::vector<double>(48, value))});
  };
  expect_rejected(frames(0), name, "found 0" + expected);
  expect_rejected(frames(3e38), name, "found 1.44e+40" + expected);
  EXPECT_EQ(complaint(frames(1e-30)), "nothing");
  EXPECT_EQ(complaint(frames(1e35)), "nothing");
  const std::string probe = source_1 + "illumination";
  const auto lit = [&](float value) {
    return with(small_scan(),
                {complex(probe, {1, 4, 4}, std::vector<std::complex<float>>(16, value))});
  };
  const std::string squares =
      ", expected light: squares that add up to more than 0 and at most " + most;
  expect_rejected(lit(0), probe, "found 0" + squares);
  expect_rejected(lit(1e19F), probe, "found 1.6e+39" + squares);
  EXPECT_EQ(complaint(lit(1e-3F)), "nothing");
}

TEST_F(ReadTest, RejectsTranslationsThatDoNotFit) {
  expect_rejected(with(small_scan(), {numbers(translation_1, {2, 3}, {0, 0, 0, 1, 1, 0})}),
                  translation_1,
                  "found [2, 3], expected [3, 3], a position for each frame");
  expect_rejected(
      with(small_scan(), {numbers(translation_1, {3, 3}, {0, std::nan(""), 0, 1, 1, 0, 1, 1, 0})}),
      translation_1,
      "found nan of position 0, expected finite metres");
  expect_rejected(
      with(small_scan(), {numbers(translation_1, {3, 3}, {0, 0, 0, 0, 1e6, 0, 1, 1, 0})}),
      translation_1,
      "found a scan over 1e+06, expected metres, within 65536 rows of the object");
}

/// Translations in another unit are not a fault of the object, so the message names the
/// translations.
TEST_F(ReadTest, BlamesTheScanWhereNoObjectWouldHoldIt) {
  expect_rejected(
      with(small_scan(),
           {numbers(translation_1, {3, 3}, {0, 0, 0, 0, 1e6, 0, 1, 1, 0}),
            complex("entry_1/image_1/data", {9, 9}, std::vector<std::complex<float>>(81, 1))}),
      translation_1,
      "found a scan over 1e+06, expected metres, within 65536 rows of the object");
}

TEST_F(ReadTest, RejectsImpossibleGeometry) {
  expect_rejected(with(small_scan(), {number(detector_1 + "distance", 0)}),
                  detector_1 + "distance",
                  "found 0, expected metres, more than 0");
  expect_rejected(with(small_scan(), {numbers(detector_1 + "distance", {2}, {1, 1})}),
                  detector_1 + "distance",
                  "found [2], expected a single number");
  expect_rejected(
      with(without(small_scan(), {source_1 + "wavelength"}), {number(source_1 + "energy", 8.8)}),
      source_1 + "energy",
      "found 8.8, expected a photon's energy in joules, or an attribute units of eV or keV");
}

TEST_F(ReadTest, RejectsMasksThatDoNotFit) {
  expect_rejected(with(small_scan(), {numbers(detector_1 + "mask", {2, 2}, {0, 0, 0, 0})}),
                  detector_1 + "mask",
                  "found [2, 2], expected [4, 4], as the frames");
  expect_rejected(
      with(small_scan(), {numbers(detector_1 + "mask", {4, 4}, std::vector<double>(16, 1))}),
      detector_1 + "mask",
      "found none, expected zeros, which mean good pixels");
}

TEST_F(ReadTest, RejectsProbesThatDoNotFit) {
  const std::string probe = source_1 + "illumination";
  expect_rejected(
      with(small_scan(), {complex(probe, {1, 5, 5}, std::vector<std::complex<float>>(25, 1))}),
      probe,
      "found [1, 5, 5], expected [modes, width, width] of at most the frames' 4 pixels");
}

/// Reads a scan with this object as if there were no object, and gives the reason.
TEST_F(ReadTest, DoesWithoutObjectsThatDoNotFit) {
  const Dataset bare = read(small_scan());
  EXPECT_EQ(bare.object_fault, "");
  const std::string object = "entry_1/image_1/data";
  const auto expect_none = [&](const Part& part, const std::string& why) {
    const Dataset data = read(with(small_scan(), {part}));
    EXPECT_FALSE(data.has_object);
    EXPECT_EQ(data.object_fault, path_.string() + ": " + object + ": " + why);
    EXPECT_EQ(data.object, bare.object);
    EXPECT_EQ(data.rows, bare.rows);
    EXPECT_EQ(data.positions, bare.positions);
  };
  const auto ones = [&](const hdf5::Shape& shape, std::size_t count) {
    return complex(object, shape, std::vector<std::complex<float>>(count, 1));
  };
  const std::string for_windows = " for the windows of " + translation_1;
  expect_none(ones({8, 9}, 72), "found 8, expected at least 9 rows" + for_windows);
  // The rows would fit, but the columns do not, so the object is not used.
  expect_none(ones({20, 7}, 140), "found 7, expected at least 8 columns" + for_windows);
  expect_none(ones({2, 9, 9}, 162), "found [2, 9, 9], expected [rows, columns]");
  expect_none(ones({0, 9}, 0), "found [0, 9], expected at least one pixel");
  std::vector<std::complex<float>> values(81, 1);
  values[4] = std::nanf("");
  expect_none(complex(object, {9, 9}, values),
              "found infinity or NaN at 4, expected finite numbers");
  expect_none({object, [](hdf5::Writer& file, const auto& path) { file.string(path, "it"); }},
              "found text, expected complex numbers: compounds of two numbers r and i");
  expect_none({object, [](hdf5::Writer& file, const auto& path) { file.link(path, "lost"); }},
              "found a link to /lost, which is missing, expected a group or dataset");
}

TEST_F(ReadTest, RejectsPixelsWithoutExtent) {
  const auto vectors = [](const std::vector<double>& values) {
    return with(without(small_scan(), {detector_1 + "x_pixel_size", detector_1 + "y_pixel_size"}),
                {numbers(detector_1 + "basis_vectors", {2, 3}, values)});
  };
  expect_rejected(
      vectors({0, -0.5, 0, 0, 0, 0}),
      detector_1 + "basis_vectors",
      "found (0, 0, 0) from a pixel to the next column, expected vectors with a length above 0");
  expect_rejected(
      vectors({std::nan(""), 1, 0, 1, 0, 0}),
      detector_1 + "basis_vectors",
      "found (nan, 1, 0) from a pixel to the next row, expected vectors with a length above 0");
}

TEST_F(ReadTest, RejectsLinksToNothing) {
  const Part link{detector_1 + "mask",
                  [](hdf5::Writer& file, const std::string& name) { file.link(name, "lost"); }};
  expect_rejected(with(small_scan(), {link}),
                  detector_1 + "mask",
                  "found a link to /lost, which is missing, expected a group or dataset");
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
