#include <cmath>
#include <complex>
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

class ReadBadFilesTest : public ReadTest {
 protected:
  /// Changes the bytes of the file and returns the complaint about it.
  template <class Change>
  std::string complaint_after(const Change& change) {
    std::string bytes = harness::read_file(path_);
    change(bytes);
    harness::write_file(path_, bytes);
    return complaint_of([this] { return read_dataset(path_); });
  }
};

TEST_F(ReadBadFilesTest, RejectsFilesThatAreNoHdf5) {
  harness::write_file(path_, "");
  const std::string complaint =
      complaint_after([](std::string& bytes) { bytes = "CXI, I promise\n"; });
  EXPECT_TRUE(complaint.starts_with(path_.string() + ": is no HDF5 file")) << complaint;
  EXPECT_THROW(static_cast<void>(read_dataset(folder_.path())), harness::FileError);
  EXPECT_THROW(static_cast<void>(read_dataset(folder_.path() / "none")), harness::FileError);
}

TEST_F(ReadBadFilesTest, RejectsTruncatedFiles) {
  write(path_, small_scan());
  const auto cut = [](std::string& bytes) { bytes.resize(bytes.size() / 2); };
  EXPECT_NE(complaint_after(cut), "");
}

/// The HDF5 library itself would read past the bytes of such a file.
TEST_F(ReadBadFilesTest, RejectsDatasetsWithFewerBytesThanTheirShapes) {
  write(path_, small_scan());
  const auto change = [](std::string& bytes) {
    // The file's layout message says where the frames' 3 × 4 × 4 × 8 bytes lie. Zeros make the
    // dataset a compact one without bytes. A compact dataset has its bytes in the header.
    const std::string size{"\x80\x01\0\0\0\0\0\0", 8};
    const std::size_t at = bytes.find(size);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(bytes.substr(at - 10, 2), "\3\1");
    bytes.replace(at - 9, 17, std::string(17, '\0'));
  };
  EXPECT_EQ(complaint_after(change),
            path_.string() + ": " + frames_1 + ": found 0 bytes, expected 384");
}

TEST_F(ReadBadFilesTest, RejectsComplexNumbersWhosePartsLieElsewhere) {
  for (const char offset : {'\5', '\2', '\x7f'}) {
    write(path_, with(small_scan(), {filled(probe_1, {1, 4, 4}, 1)}));
    const std::string complaint = complaint_after([&](std::string& bytes) {
      // The bytes of the padded name of the imaginary part. They precede its offset in the
      // compound.
      const std::string name("i\0\0\0\0\0\0\0", 8);
      std::size_t at = bytes.find(name + '\4');
      ASSERT_NE(at, std::string::npos);
      for (; at != std::string::npos; at = bytes.find(name + '\4', at)) {
        bytes[at + name.size()] = offset;
      }
    });
    EXPECT_TRUE(complaint.starts_with(path_.string() + ": " + probe_1)) << complaint;
  }
}

#if !RANKCHECK_HAS_SANITIZER
/// The text's length is stored in a heap of the file, and the HDF5 library trusts it. A sanitizer
/// would report the bad read itself.
TEST_F(ReadBadFilesTest, CallsACrashOfTheLibraryBadInput) {
  write(path_, with(small_scan(), {in_units(number(detector_1 + "distance", 1), "metres")}));
  const auto change = [](std::string& bytes) {
    const std::size_t units = bytes.find("metres");
    ASSERT_NE(units, std::string::npos);
    bytes[units - 5] = '\x40';
  };
  EXPECT_EXIT(complaint_after(change),
              testing::ExitedWithCode(2),
              "^rankcheck: .*/scan.cxi: found a file on which the library crashes, expected "
              "an HDF5 file\n$");
}
#endif

TEST_F(ReadBadFilesTest, RejectsFramesThatNoMemoryHolds) {
  write(path_, small_scan());
  const hdf5::Reader file(path_);
  const auto complaint = [&](const hdf5::Shape& shape) {
    return complaint_of([&] { require_frames(file, "data", shape); });
  };
  const auto expect_needs = [&](const hdf5::Shape& shape, const std::string& what) {
    const std::string said = complaint(shape);
    EXPECT_TRUE(said.starts_with(path_.string() + ": data: " + what)) << said;
    EXPECT_NE(said.find(" of this machine's memory"), std::string::npos) << said;
  };
  const std::string one = "the arrays for one frame of 1000000 × 1000000 take 29802.3 GiB";
  expect_needs({9, 1000000, 1000000}, one);
  expect_needs({9, 1, 1000000}, one);
  expect_needs({std::int64_t{1} << 40, 512, 512}, "1099511627776 frames of 512 × 512 take");
  EXPECT_EQ(complaint({100, 128, 128}), "");
}

TEST_F(ReadBadFilesTest, RejectsMissingParts) {
  const auto expect_missed =
      [&](const std::string& name, const std::string& alternatives, const std::string& expected) {
        scan_ = without(small_scan(), {name});
        expect_rejected({}, name + alternatives, "found no such dataset, expected " + expected);
      };
  expect_missed(frames_1, " or entry_1/data_1/data", "[positions, rows, columns]");
  expect_missed(detector_1 + "distance", "", "metres");
  expect_missed(source_1 + "wavelength", " or " + source_1 + "energy", "metres or joules");
  expect_missed(translation_1,
                " or entry_1/data_1/translation or " + detector_1 + "translation",
                "(x, y, z) in metres for each frame");
}

TEST_F(ReadBadFilesTest, RejectsFramesOfOtherShapes) {
  const std::string expected = ", expected [positions, rows, columns]";
  expect_rejected(numbers(frames_1, {4, 4}, std::vector<double>(16, 1)), "found [4, 4]" + expected);
  expect_rejected(numbers(frames_1, {3, 0, 2}, {}), "found [3, 0, 2]" + expected);
  expect_rejected(words(frames_1, "bright"), "found a single value" + expected);
  expect_rejected(frames_of({}), "found none, expected at least one frame");
}

TEST_F(ReadBadFilesTest, RejectsIntensitiesThatAreNone) {
  for (const auto& [value, found] :
       {std::pair{-2.0, "-2"}, {std::nan(""), "nan"}, {1e300, "inf"}}) {
    std::vector<double> frames(48, 1);
    frames[20] = value;
    expect_rejected(frames_of(frames),
                    std::string("found ") + found +
                        " in frame 1, expected finite numbers, none negative, wherever the mask "
                        "has none");
  }
}

TEST_F(ReadBadFilesTest, RejectsFramesAndProbesWithoutLight) {
  const auto expected = [](const std::string& what) {
    return ", expected light: " + what +
           " that add up to more than 0 and at most 2.13e+37, as single precision needs it";
  };
  const auto lit = [](double value) { return frames_of(std::vector<double>(48, value)); };
  expect_rejected(lit(0), "found 0" + expected("intensities"));
  expect_rejected(lit(3e38), "found 1.44e+40" + expected("intensities"));
  EXPECT_EQ(complaint({lit(1e-30)}), "");
  EXPECT_EQ(complaint({lit(1e35)}), "");
  const auto probe = [](float value) { return filled(probe_1, {1, 4, 4}, value); };
  expect_rejected(probe(0), "found 0" + expected("squares"));
  expect_rejected(probe(1e19F), "found 1.6e+39" + expected("squares"));
  EXPECT_EQ(complaint({probe(1e-3F)}), "");
}

TEST_F(ReadBadFilesTest, RejectsTranslationsThatDoNotFit) {
  expect_rejected(translations({0, 0, 0, 1, 1, 0}),
                  "found [2, 3], expected [3, 3], a position for each frame");
  expect_rejected(translations({0, std::nan(""), 0, 1, 1, 0, 1, 1, 0}),
                  "found nan of position 0, expected finite metres");
  const Part wide = translations({0, 0, 0, 0, 1e6, 0, 1, 1, 0});
  const std::string too_wide =
      "found a scan over 1e+06, expected metres, within 65536 rows of the object";
  expect_rejected(wide, too_wide);
  // Translations in another unit are not a fault of the object, so the message names the
  // translations.
  expect_rejected({wide, filled(object_1, {9, 9}, 1)}, translation_1, too_wide);
}

TEST_F(ReadBadFilesTest, RejectsWhatDoesNotFit) {
  expect_rejected(number(detector_1 + "distance", 0), "found 0, expected metres, more than 0");
  expect_rejected(numbers(detector_1 + "distance", {2}, {1, 1}),
                  "found [2], expected a single number");
  expect_rejected(numbers(mask_1, {2, 2}, {0, 0, 0, 0}),
                  "found [2, 2], expected [4, 4], as the frames");
  expect_rejected(numbers(mask_1, {4, 4}, std::vector<double>(16, 1)),
                  "found none, expected zeros, which mean good pixels");
  expect_rejected(link(mask_1, "lost"),
                  "found a link to /lost, which is missing, expected a group or dataset");
  expect_rejected(
      filled(probe_1, {1, 5, 5}, 1),
      "found [1, 5, 5], expected [modes, width, width] of at most the frames' 4 pixels");
}

/// Reads a scan with this object as if there were no object, and gives the reason.
TEST_F(ReadBadFilesTest, DoesWithoutObjectsThatDoNotFit) {
  const Dataset bare = read();
  EXPECT_EQ(bare.object_fault, "");
  const auto expect_none = [&](const Part& part, const std::string& why) {
    const Dataset data = read({part});
    EXPECT_FALSE(data.has_object);
    EXPECT_EQ(data.object_fault, path_.string() + ": " + object_1 + ": " + why);
    EXPECT_EQ(data.object, bare.object);
    EXPECT_EQ(data.rows, bare.rows);
    EXPECT_EQ(data.positions, bare.positions);
  };
  const auto ones = [](const hdf5::Shape& shape) { return filled(object_1, shape, 1); };
  const std::string for_windows = " for the windows of " + translation_1;
  expect_none(ones({8, 9}), "found 8, expected at least 9 rows" + for_windows);
  // The rows would fit, but the columns do not, so the object is not used.
  expect_none(ones({20, 7}), "found 7, expected at least 8 columns" + for_windows);
  expect_none(ones({2, 9, 9}), "found [2, 9, 9], expected [rows, columns]");
  expect_none(ones({0, 9}), "found [0, 9], expected at least one pixel");
  std::vector<std::complex<float>> values(81, 1);
  values[4] = std::nanf("");
  expect_none(complex(object_1, {9, 9}, values),
              "found infinity or NaN at 4, expected finite numbers");
  expect_none(words(object_1, "it"),
              "found text, expected complex numbers: compounds of two numbers r and i");
  expect_none(link(object_1, "lost"),
              "found a link to /lost, which is missing, expected a group or dataset");
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
