#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/model.hpp"
#include "cases/reconstruct/simulate.hpp"
#include "tests/cases/reconstruct/reading.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

using hdf5::Number;

TEST_F(ReadTest, PutsZeroFrequencyFirst) {
  const Dataset data = read();
  ASSERT_EQ(data.count, 3);
  ASSERT_EQ(data.detector, 4);
  EXPECT_EQ(data.frames[0], 10);
  EXPECT_EQ(data.frames[3], 9);
  EXPECT_EQ(data.frames[16], 26);
}

TEST_F(ReadTest, PutsZeroFrequencyFirstInOddFrames) {
  std::vector<double> frames = ascending(9);
  frames.resize(27, 1);
  const Dataset data =
      read({numbers(frames_1, {3, 3, 3}, frames), number(source_1 + "wavelength", 3)});
  EXPECT_EQ(std::vector<float>(data.frames.begin(), data.frames.begin() + 9),
            (std::vector<float>{4, 5, 3, 7, 8, 6, 1, 2, 0}));
}

TEST_F(ReadTest, TakesCornersFromMetres) {
  const Dataset data = read();
  EXPECT_EQ(data.positions, (std::vector<float>{1, 1, 3, 2, 5.5, 4.25}));
  EXPECT_EQ(data.rows, 1 + 4 + 4 + 1 + 1);
  EXPECT_EQ(data.cols, 1 + 3 + 4 + 1 + 1);
}

TEST_F(ReadTest, MovesPositionsAroundZeroByWholePixels) {
  const Part around_zero = translations({-2.25, -2.5, 0, 0, 0, 0, 2.25, 2.5, 0});
  EXPECT_EQ(read({around_zero}).positions, (std::vector<float>{1.5, 1.75, 4, 4, 6.5, 6.25}));
  // The scan lies in the middle of an object with more room.
  const Dataset data = read({around_zero, filled(object_1, {15, 14}, 1)});
  EXPECT_EQ(data.positions[0], 2.5);
  EXPECT_EQ(data.positions[1], 2.75);
}

TEST_F(ReadTest, LeavesPositionsAloneOnAnObjectThatHoldsThem) {
  // A stack of one slice is an object, too.
  for (const hdf5::Shape& shape : {hdf5::Shape{9, 8}, hdf5::Shape{1, 1, 9, 8}}) {
    const Dataset data = read({filled(object_1, shape, {2, 1})});
    EXPECT_EQ(data.positions, (std::vector<float>{0, 0, 2, 1, 4.5, 3.25}));
    EXPECT_EQ(data.rows, 9);
    EXPECT_TRUE(data.has_object);
    EXPECT_EQ(data.object[5], (std::complex<float>{2, 1}));
  }
}

TEST_F(ReadTest, TakesPixelsThatAreNotSquare) {
  const Dataset data = read({number(detector_1 + "y_pixel_size", 0.5)});
  EXPECT_EQ(data.object_pixel_height(), 2);
  EXPECT_EQ(data.object_pixel_width(), 1);
  EXPECT_EQ(data.positions, (std::vector<float>{1, 1, 2, 2, 3.25, 4.25}));
}

TEST_F(ReadTest, ReadsNumbersOfAnyWidth) {
  const std::vector<float> expected = read().frames;
  for (int number = 0; number <= static_cast<int>(Number::f64); ++number) {
    for (const bool compressed : {false, true}) {
      const hdf5::Storage storage{.number = static_cast<Number>(number), .compressed = compressed};
      EXPECT_EQ(read({frames_of(ascending(48), storage)}).frames, expected) << number;
    }
  }
}

TEST_F(ReadTest, ReadsFramesWhereTheyAreAsIfAllAtOnce) {
  for (const bool compressed : {false, true}) {
    const Dataset all = read({frames_of(ascending(48), {.compressed = compressed})});
    const Dataset opened = open_dataset(path_);
    EXPECT_TRUE(opened.frames.empty());
    for (const std::int64_t n : {2, 0, 1}) {
      std::vector<float> frame(16);
      opened.read_frame(n, frame);
      EXPECT_TRUE(std::equal(frame.begin(), frame.end(), all.frames.begin() + 16 * n)) << n;
    }
  }
}

TEST_F(ReadTest, LeavesOutWhatTheMaskHas) {
  std::vector<double> mask(16, 0);
  mask[10] = 4;
  std::vector<double> frames(48, 1);
  frames[10] = -1;
  frames[26] = std::nan("");
  frames[42] = 4294967295;
  const Dataset data =
      read({frames_of(frames), numbers(mask_1, {4, 4}, mask, {.number = Number::u32})});
  EXPECT_EQ(data.mask[0], 0);
  EXPECT_EQ(data.mask[1], 1);
  EXPECT_EQ(data.frames[1], 1);
  for (const std::size_t masked : {0, 16, 32}) EXPECT_EQ(data.frames[masked], 0);
}

TEST_F(ReadTest, LeavesOutDetectorsCodesForBadPixels) {
  const auto with_code = [&](double code, Number number) {
    std::vector<double> counts(48, 7);
    // Pixel 10 is bad in all frames, pixel 9 in one.
    for (const std::size_t i : {10, 26, 42, 25}) counts[i] = code;
    return read({frames_of(counts, {.number = number})});
  };
  for (const auto& [code, number] : {std::pair{4294967295.0, Number::u32},
                                     {65535.0, Number::u16},
                                     {-1.0, Number::i32},
                                     {-2.0, Number::i16}}) {
    const Dataset data = with_code(code, number);
    EXPECT_EQ(data.masked(), 2) << code;
    EXPECT_EQ(data.partly_bad, 1) << code;
    EXPECT_EQ(data.mask[0], 0) << code;
    EXPECT_EQ(data.frames[0], 0) << code;
    EXPECT_EQ(data.frames[1], 7) << code;
  }
  for (const Number number : {Number::u32, Number::i32, Number::f32}) {
    EXPECT_EQ(with_code(65535, number).masked(), 0);
  }
  expect_rejected(frames_of(std::vector<double>(48, -1), {.number = Number::i32}),
                  "found none, expected a pixel with counts in all frames");
}

TEST_F(ReadTest, LeavesOutPixelsThatAreBadInOneFrame) {
  // Pixel 10 is bad in one frame, pixel 3 in all, pixel 4 in two.
  std::vector<double> mask(48, 0);
  for (const std::size_t i : {26, 3, 19, 35, 20, 36}) mask[i] = 1;
  Dataset data = read({numbers(mask_1, {3, 4, 4}, mask)});
  EXPECT_EQ(data.mask[0], 0);
  EXPECT_EQ(data.frames[0], 0);
  EXPECT_EQ(data.frames[32], 0);
  EXPECT_EQ(data.masked(), 3);
  EXPECT_EQ(data.partly_bad, 2);
  data = read({numbers(frames_1, {3, 2, 4}, std::vector<double>(24, 1)),
               numbers(mask_1, {2, 4}, {0, 1, 0, 0, 0, 0, 0, 0})});
  EXPECT_EQ(data.masked(), 1);
  EXPECT_EQ(data.partly_bad, 0);
}

TEST_F(ReadTest, TakesAnEnergyForTheWavelength) {
  const double joules = wavelength_of_energy(4);
  const std::string energy = source_1 + "energy";
  scan_ = without(scan_, {source_1 + "wavelength"});
  for (const Part& part :
       {number(energy, joules), in_units(number(energy, joules / 1.602176634e-16), "keV")}) {
    EXPECT_DOUBLE_EQ(read({part}).geometry.wavelength, 4);
  }
  expect_rejected(
      number(energy, 8.8),
      "found 8.8, expected a photon's energy in joules, or an attribute units of eV or keV");
  expect_rejected(in_units(number(energy, 1), "horses"),
                  "found horses, expected an attribute units of J, eV or keV, or none");
}

TEST_F(ReadTest, TakesLengthsInTheirUnits) {
  const Dataset plain = read();
  const Dataset data =
      read({in_units(number(detector_1 + "distance", 1e3), "mm"),
            in_units(number(detector_1 + "x_pixel_size", 1e6), "um"),
            in_units(number(detector_1 + "y_pixel_size", 1e6), "\u00b5m"),
            in_units(number(source_1 + "wavelength", 4e10), "angstrom"),
            in_units(translations({0, 0, 0, 1e9, 2e9, 0, 3.25e9, 4.5e9, 0}), "nm")});
  EXPECT_DOUBLE_EQ(data.geometry.distance, plain.geometry.distance);
  EXPECT_DOUBLE_EQ(data.geometry.pixel_width, plain.geometry.pixel_width);
  EXPECT_DOUBLE_EQ(data.geometry.pixel_height, plain.geometry.pixel_height);
  EXPECT_DOUBLE_EQ(data.geometry.wavelength, plain.geometry.wavelength);
  ASSERT_EQ(data.positions.size(), plain.positions.size());
  for (std::size_t i = 0; i < data.positions.size(); ++i) {
    EXPECT_FLOAT_EQ(data.positions[i], plain.positions[i]);
  }
}

TEST_F(ReadTest, RejectsUnitsThatNobodyKnows) {
  for (const Part& part : {number(detector_1 + "distance", 1),
                           number(detector_1 + "x_pixel_size", 1),
                           number(detector_1 + "y_pixel_size", 1),
                           number(source_1 + "wavelength", 1),
                           translations({0, 0, 0, 1, 2, 0, 3, 4, 0})}) {
    expect_rejected(
        in_units(part, "furlong"),
        "found furlong, expected an attribute units of m, mm, um, nm or angstrom, or none");
  }
}

TEST_F(ReadTest, RejectsScansWithinAPixel) {
  const auto scan = [](double extent) {
    return translations({0, 0, 0, extent, 0, 0, 0, extent / 2, 0});
  };
  expect_rejected(scan(0.5),
                  "found a scan over 0.5 pixels, expected metres, over at least one pixel of the "
                  "object, 1 × 1 m");
  EXPECT_EQ(complaint({scan(1)}), "");
  EXPECT_EQ(complaint({scan(0)}), "");
}

TEST_F(ReadTest, FollowsLinksAndDoesWithoutOptionalParts) {
  scan_ = without(scan_, {frames_1, detector_1 + "x_pixel_size", translation_1});
  const Dataset data = read({numbers("elsewhere/frames", {3, 4, 4}, std::vector<double>(48, 7)),
                             numbers("elsewhere/places", {3, 2}, {0, 0, 1, 1, 2, 2}),
                             link("entry_1/data_1/data", "elsewhere/frames"),
                             link("entry_1/data_1/translation", "elsewhere/places")});
  EXPECT_EQ(data.frames[0], 7);
  EXPECT_EQ(data.positions[4], 3);
  EXPECT_EQ(data.geometry.pixel_width, 1);
}

TEST_F(ReadTest, TakesPixelsFromBasisVectors) {
  scan_ = without(scan_, {detector_1 + "x_pixel_size", detector_1 + "y_pixel_size"});
  const auto vectors = [](const std::vector<double>& values) {
    return numbers(detector_1 + "basis_vectors", {2, 3}, values);
  };
  for (const Part& part :
       {vectors({0, -0.5, 0, -0.3, 0, 0.4}), in_units(vectors({0, -500, 0, -300, 0, 400}), "mm")}) {
    const Dataset data = read({part});
    EXPECT_DOUBLE_EQ(data.geometry.pixel_height, 0.5);
    EXPECT_DOUBLE_EQ(data.geometry.pixel_width, 0.5);
  }
  expect_rejected(
      vectors({0, -0.5, 0, 0, 0, 0}),
      "found (0, 0, 0) from a pixel to the next column, expected vectors with a length above 0");
  expect_rejected(
      vectors({std::nan(""), 1, 0, 1, 0, 0}),
      "found (nan, 1, 0) from a pixel to the next row, expected vectors with a length above 0");
}

TEST_F(ReadTest, TakesAProbeSmallerThanTheFrames) {
  const std::vector<std::complex<float>> probe{
      {1, 0}, {0, 2}, {3, 0}, {0, 4}, {5, 0}, {0, 6}, {7, 0}, {0, 8}};
  const Dataset data = read({complex(probe_1, {2, 2, 2}, probe)});
  EXPECT_EQ(data.window, 2);
  EXPECT_EQ(data.modes, 2);
  EXPECT_EQ(data.probe, probe);
  EXPECT_EQ(data.rows, 1 + 4 + 2 + 1 + 1);
}

TEST_F(ReadTest, ReadsBackWhatItWrote) {
  Dataset data = read({filled(object_1, {9, 8}, {2, 1}), filled(probe_1, {1, 4, 4}, {0, 1})});
  data.mask[3] = 0;
  for (const std::size_t masked : {3, 16 + 3, 32 + 3}) data.frames[masked] = 0;
  for (const bool counts : {false, true}) {
    write_dataset(path_, data, "again", counts);
    const Dataset again = read_dataset(path_);
    EXPECT_EQ(again.frames, data.frames);
    EXPECT_EQ(again.mask, data.mask);
    EXPECT_EQ(again.positions, data.positions);
    EXPECT_EQ(again.rows, data.rows);
    EXPECT_EQ(again.object, data.object);
    EXPECT_EQ(again.probe, data.probe);
    EXPECT_EQ(again.geometry.wavelength, data.geometry.wavelength);
  }
}

TEST_F(ReadTest, PadsFramesThatAreNotSquareAroundTheirMiddle) {
  // In frames of 2 × 4, zero frequency is at (1, 2). Padding moves it to (2, 2) of 4 × 4, and
  // reading moves it from there to the corner. The value of pixel i is i.
  scan_ = with(scan_, {translations({0, 0, 0})});
  const Dataset data = read({numbers(frames_1, {1, 2, 4}, ascending(8)),
                             numbers(mask_1, {2, 4}, {0, 1, 0, 0, 0, 0, 0, 0})});
  EXPECT_EQ(data.detector, 4);
  EXPECT_EQ(data.stored_rows, 2);
  EXPECT_EQ(data.stored_cols, 4);
  EXPECT_EQ(data.frames, (std::vector<float>{6, 7, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0}));
  EXPECT_EQ(data.mask, (std::vector<float>{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(read({numbers(frames_1, {1, 3, 1}, {1, 2, 4})}).frames,
            (std::vector<float>{2, 0, 0, 4, 0, 0, 1, 0, 0}));
}

/// Frames that are cut out of a simulated scan equal the model's frames of the known object and
/// probe.
TEST_F(ReadTest, PaddedFramesAreThoseOfTheModel) {
  const Dataset whole = simulate({.positions = 5, .detector = 12, .probe = 8, .step = 3});
  write_dataset(path_, whole, "whole", false);
  const hdf5::Reader file(path_);
  const std::vector<double> square = file.numbers<double>(frames_1).values;
  // Rows 3 to 9 of 12 are kept, so that the middle, row 6, is the fourth of seven.
  constexpr std::ptrdiff_t width = 12;
  std::vector<double> cut;
  for (std::ptrdiff_t n = 0; n < 5; ++n) {
    const auto image = square.begin() + width * width * n;
    cut.insert(cut.end(), image + 3 * width, image + 10 * width);
  }
  scan_ = {numbers(frames_1, {5, 7, 12}, cut),
           complex(object_1, {whole.rows, whole.cols}, whole.object),
           complex(probe_1, {1, 8, 8}, whole.probe)};
  for (const std::string& name : {detector_1 + "distance",
                                  detector_1 + "x_pixel_size",
                                  detector_1 + "y_pixel_size",
                                  source_1 + "wavelength",
                                  translation_1}) {
    const auto array = file.numbers<double>(name);
    scan_.push_back(numbers(name, array.shape, array.values));
  }
  const Dataset data = read();
  ASSERT_EQ(data.detector, 12);
  EXPECT_EQ(std::count(data.mask.begin(), data.mask.end(), 1.0F), 7 * 12);
  EXPECT_EQ(data.positions, whole.positions);
  ReferenceModel model(data);
  for (std::int64_t n = 0; n < data.count; ++n) {
    const reference::BoundedArray& modelled = model.intensity(n);
    for (std::size_t i = 0; i < 144; ++i) {
      const float measured = data.frames[spec::to_size(n) * 144 + i];
      EXPECT_EQ(measured, data.mask[i] * static_cast<float>(modelled.values[i].real())) << i;
    }
  }
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
