#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/model.hpp"
#include "cases/reconstruct/simulate.hpp"
#include "tests/cases/reconstruct/reading.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

TEST_F(ReadTest, PutsZeroFrequencyFirst) {
  const Dataset data = read(small_scan());
  ASSERT_EQ(data.count, 3);
  ASSERT_EQ(data.detector, 4);
  EXPECT_EQ(data.frames[0], 10);
  EXPECT_EQ(data.frames[3], 9);
  EXPECT_EQ(data.frames[16], 26);
}

TEST_F(ReadTest, PutsZeroFrequencyFirstInOddFrames) {
  const Dataset data =
      read(with(small_scan(),
                {numbers(detector_1 + "data", {3, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 1,
                                                          0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}),
                 number(source_1 + "wavelength", 3)}));
  EXPECT_EQ(std::vector<float>(data.frames.begin(), data.frames.begin() + 9),
            (std::vector<float>{4, 5, 3, 7, 8, 6, 1, 2, 0}));
}

TEST_F(ReadTest, TakesCornersFromMetres) {
  const Dataset data = read(small_scan());
  EXPECT_EQ(data.positions, (std::vector<float>{1, 1, 3, 2, 5.5, 4.25}));
  EXPECT_EQ(data.rows, 1 + 4 + 4 + 1 + 1);
  EXPECT_EQ(data.cols, 1 + 3 + 4 + 1 + 1);
}

TEST_F(ReadTest, MovesPositionsAroundZeroByWholePixels) {
  const Dataset data = read(with(
      small_scan(), {numbers(translation_1, {3, 3}, {-2.25, -2.5, 0, 0, 0, 0, 2.25, 2.5, 0})}));
  EXPECT_EQ(data.positions, (std::vector<float>{1.5, 1.75, 4, 4, 6.5, 6.25}));
}

TEST_F(ReadTest, LeavesPositionsAloneOnAnObjectThatHoldsThem) {
  const Dataset data = read(with(
      small_scan(),
      {complex("entry_1/image_1/data", {9, 8}, std::vector<std::complex<float>>(72, {2, 1}))}));
  EXPECT_EQ(data.positions, (std::vector<float>{0, 0, 2, 1, 4.5, 3.25}));
  EXPECT_EQ(data.rows, 9);
  EXPECT_TRUE(data.has_object);
  EXPECT_EQ(data.object[5], (std::complex<float>{2, 1}));
}

TEST_F(ReadTest, TakesAStackOfOneSliceForTheObject) {
  const Dataset data = read(with(
      small_scan(),
      {complex(
          "entry_1/image_1/data", {1, 1, 9, 8}, std::vector<std::complex<float>>(72, {2, 1}))}));
  EXPECT_TRUE(data.has_object);
  EXPECT_EQ(data.rows, 9);
}

TEST_F(ReadTest, PutsAScanIntoTheMiddleOfAnObject) {
  const Dataset data = read(
      with(small_scan(),
           {complex("entry_1/image_1/data", {15, 14}, std::vector<std::complex<float>>(210, 1)),
            numbers(translation_1, {3, 3}, {-2.25, -2.5, 0, 0, 0, 0, 2.25, 2.5, 0})}));
  EXPECT_EQ(data.positions[0], 2.5);
  EXPECT_EQ(data.positions[1], 2.75);
}

TEST_F(ReadTest, TakesPixelsThatAreNotSquare) {
  const Dataset data = read(with(small_scan(), {number(detector_1 + "y_pixel_size", 0.5)}));
  EXPECT_EQ(data.object_pixel_height(), 2);
  EXPECT_EQ(data.object_pixel_width(), 1);
  EXPECT_EQ(data.positions, (std::vector<float>{1, 1, 2, 2, 3.25, 4.25}));
}

TEST_F(ReadTest, ReadsNumbersOfAnyWidth) {
  using hdf5::Number;
  const std::vector<float> expected = read(small_scan()).frames;
  std::vector<double> frames;
  for (int i = 0; i < 48; ++i) frames.push_back(i);
  for (const Number number : {Number::i8,
                              Number::u8,
                              Number::i16,
                              Number::u16,
                              Number::i32,
                              Number::u32,
                              Number::i64,
                              Number::u64,
                              Number::f32,
                              Number::f64}) {
    for (const bool compressed : {false, true}) {
      const Part data = numbers(
          detector_1 + "data", {3, 4, 4}, frames, {.number = number, .compressed = compressed});
      EXPECT_EQ(read(with(small_scan(), {data})).frames, expected) << static_cast<int>(number);
    }
  }
}

TEST_F(ReadTest, ReadsFramesWhereTheyAreAsIfAllAtOnce) {
  std::vector<double> frames;
  for (int i = 0; i < 48; ++i) frames.push_back(i);
  for (const bool compressed : {false, true}) {
    const Dataset all =
        read(with(small_scan(),
                  {numbers(detector_1 + "data", {3, 4, 4}, frames, {.compressed = compressed})}));
    const Dataset opened = open_dataset(path_);
    EXPECT_TRUE(opened.frames.empty());
    for (const std::int64_t n : {2, 0, 1}) {
      std::vector<float> frame(16);
      opened.read_frame(n, frame);
      EXPECT_EQ(frame,
                std::vector<float>(all.frames.begin() + 16 * n, all.frames.begin() + 16 * n + 16));
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
      read(with(small_scan(),
                {numbers(detector_1 + "data", {3, 4, 4}, frames),
                 numbers(detector_1 + "mask", {4, 4}, mask, {.number = hdf5::Number::u32})}));
  EXPECT_EQ(data.mask[0], 0);
  EXPECT_EQ(data.mask[1], 1);
  EXPECT_EQ(data.frames[0], 0);
  EXPECT_EQ(data.frames[1], 1);
  EXPECT_EQ(data.frames[16], 0);
  EXPECT_EQ(data.frames[32], 0);
}

TEST_F(ReadTest, LeavesOutDetectorsCodesForBadPixels) {
  using hdf5::Number;
  const std::string name = detector_1 + "data";
  const auto frames = [&](double code, Number number) {
    std::vector<double> counts(48, 7);
    // Pixel 10 is bad in all frames, pixel 9 in one.
    for (const std::size_t i : {10, 26, 42, 25}) counts[i] = code;
    return with(small_scan(), {numbers(name, {3, 4, 4}, counts, {.number = number})});
  };
  const auto expect_masked = [&](double code, Number number) {
    const Dataset data = read(frames(code, number));
    EXPECT_EQ(data.masked(), 2) << code;
    EXPECT_EQ(data.partly_bad, 1) << code;
    EXPECT_EQ(data.mask[0], 0) << code;
    EXPECT_EQ(data.frames[0], 0) << code;
    EXPECT_EQ(data.frames[1], 7) << code;
  };
  expect_masked(4294967295, Number::u32);
  expect_masked(65535, Number::u16);
  expect_masked(-1, Number::i32);
  expect_masked(-2, Number::i16);
  EXPECT_EQ(read(frames(65535, Number::u32)).masked(), 0);
  EXPECT_EQ(read(frames(65535, Number::i32)).masked(), 0);
  EXPECT_EQ(read(frames(65535, Number::f32)).masked(), 0);
  expect_rejected(
      with(small_scan(),
           {numbers(name, {3, 4, 4}, std::vector<double>(48, -1), {.number = Number::i32})}),
      name,
      "found none, expected a pixel with counts in all frames");
}

TEST_F(ReadTest, LeavesOutPixelsThatAreBadInOneFrame) {
  std::vector<double> mask(48, 0);
  mask[16 + 10] = 1;
  const Dataset data = read(with(small_scan(), {numbers(detector_1 + "mask", {3, 4, 4}, mask)}));
  EXPECT_EQ(data.mask[0], 0);
  EXPECT_EQ(data.frames[0], 0);
  EXPECT_EQ(data.frames[32], 0);
  EXPECT_EQ(data.masked(), 1);
  EXPECT_EQ(data.partly_bad, 1);
}

TEST_F(ReadTest, CountsWhatTheMaskHas) {
  // One pixel is bad in all frames, another one in two of three.
  std::vector<double> mask(48, 0);
  for (const std::size_t i : {3, 19, 35, 20, 36}) mask[i] = 1;
  Dataset data = read(with(small_scan(), {numbers(detector_1 + "mask", {3, 4, 4}, mask)}));
  EXPECT_EQ(data.masked(), 2);
  EXPECT_EQ(data.partly_bad, 1);
  data = read(with(small_scan(),
                   {numbers(detector_1 + "data", {3, 2, 4}, std::vector<double>(24, 1)),
                    numbers(detector_1 + "mask", {2, 4}, {0, 1, 0, 0, 0, 0, 0, 0})}));
  EXPECT_EQ(data.masked(), 1);
  EXPECT_EQ(data.partly_bad, 0);
}

TEST_F(ReadTest, TakesAnEnergyForTheWavelength) {
  const double joules = wavelength_of_energy(4);
  const std::vector<Part> parts = without(small_scan(), {source_1 + "wavelength"});
  EXPECT_DOUBLE_EQ(read(with(parts, {number(source_1 + "energy", joules)})).geometry.wavelength, 4);
  const Part kiloelectronvolts{source_1 + "energy", [&](hdf5::Writer& file, const auto& name) {
                                 file.number(name, joules / 1.602176634e-16);
                                 file.attribute(name, "units", "keV");
                               }};
  EXPECT_DOUBLE_EQ(read(with(parts, {kiloelectronvolts})).geometry.wavelength, 4);
}

TEST_F(ReadTest, TakesLengthsInTheirUnits) {
  const Dataset plain = read(small_scan());
  const Dataset data = read(with(
      small_scan(),
      {in_units(number(detector_1 + "distance", 1e3), "mm"),
       in_units(number(detector_1 + "x_pixel_size", 1e6), "um"),
       in_units(number(detector_1 + "y_pixel_size", 1e6), "\u00b5m"),
       in_units(number(source_1 + "wavelength", 4e10), "angstrom"),
       in_units(numbers(translation_1, {3, 3}, {0, 0, 0, 1e9, 2e9, 0, 3.25e9, 4.5e9, 0}), "nm")}));
  EXPECT_DOUBLE_EQ(data.geometry.distance, plain.geometry.distance);
  EXPECT_DOUBLE_EQ(data.geometry.pixel_width, plain.geometry.pixel_width);
  EXPECT_DOUBLE_EQ(data.geometry.pixel_height, plain.geometry.pixel_height);
  EXPECT_DOUBLE_EQ(data.geometry.wavelength, plain.geometry.wavelength);
  EXPECT_EQ(data.positions.size(), plain.positions.size());
  for (std::size_t i = 0; i < data.positions.size(); ++i) {
    EXPECT_FLOAT_EQ(data.positions[i], plain.positions[i]);
  }
  const Dataset vectors = read(with(
      without(small_scan(), {detector_1 + "x_pixel_size", detector_1 + "y_pixel_size"}),
      {in_units(numbers(detector_1 + "basis_vectors", {2, 3}, {0, -500, 0, -300, 0, 400}), "mm")}));
  EXPECT_DOUBLE_EQ(vectors.geometry.pixel_height, 0.5);
  EXPECT_DOUBLE_EQ(vectors.geometry.pixel_width, 0.5);
}

TEST_F(ReadTest, RejectsUnitsThatNobodyKnows) {
  const std::string lengths = ", expected an attribute units of m, mm, um, nm or angstrom, or none";
  for (const std::string& name : {detector_1 + "distance",
                                  detector_1 + "x_pixel_size",
                                  detector_1 + "y_pixel_size",
                                  source_1 + "wavelength"}) {
    expect_rejected(with(small_scan(), {in_units(number(name, 1), "furlong")}),
                    name,
                    "found furlong" + lengths);
  }
  expect_rejected(
      with(small_scan(),
           {in_units(numbers(translation_1, {3, 3}, {0, 0, 0, 1, 2, 0, 3, 4, 0}), "steps")}),
      translation_1,
      "found steps" + lengths);
  const std::string energy = source_1 + "energy";
  expect_rejected(with(without(small_scan(), {source_1 + "wavelength"}),
                       {in_units(number(energy, 1), "horses")}),
                  energy,
                  "found horses, expected an attribute units of J, eV or keV, or none");
}

TEST_F(ReadTest, RejectsScansWithinAPixel) {
  const auto scan = [&](double extent) {
    return with(small_scan(),
                {numbers(translation_1, {3, 3}, {0, 0, 0, extent, 0, 0, 0, extent / 2, 0})});
  };
  expect_rejected(scan(0.5),
                  translation_1,
                  "found a scan over 0.5 pixels, expected metres, over at least one pixel of the "
                  "object, 1 × 1 m");
  EXPECT_EQ(complaint(scan(1)), "nothing");
  EXPECT_EQ(complaint(scan(0)), "nothing");
}

TEST_F(ReadTest, FollowsLinksAndDoesWithoutOptionalParts) {
  std::vector<Part> parts =
      without(small_scan(), {detector_1 + "data", detector_1 + "x_pixel_size", translation_1});
  parts = with(parts,
               {numbers("elsewhere/frames", {3, 4, 4}, std::vector<double>(48, 7)),
                numbers("elsewhere/places", {3, 2}, {0, 0, 1, 1, 2, 2})});
  parts.push_back({"entry_1/data_1/data", [](hdf5::Writer& file, const std::string& name) {
                     file.link(name, "elsewhere/frames");
                   }});
  parts.push_back({"entry_1/data_1/translation", [](hdf5::Writer& file, const std::string& name) {
                     file.link(name, "elsewhere/places");
                   }});
  const Dataset data = read(parts);
  EXPECT_EQ(data.frames[0], 7);
  EXPECT_EQ(data.positions[4], 3);
  EXPECT_EQ(data.geometry.pixel_width, 1);
}

TEST_F(ReadTest, TakesPixelsFromBasisVectors) {
  const Dataset data =
      read(with(without(small_scan(), {detector_1 + "x_pixel_size", detector_1 + "y_pixel_size"}),
                {numbers(detector_1 + "basis_vectors", {2, 3}, {0, -0.5, 0, -0.3, 0, 0.4})}));
  EXPECT_EQ(data.geometry.pixel_height, 0.5);
  EXPECT_EQ(data.geometry.pixel_width, 0.5);
}

TEST_F(ReadTest, TakesAProbeSmallerThanTheFrames) {
  const std::vector<std::complex<float>> probe{
      {1, 0}, {0, 2}, {3, 0}, {0, 4}, {5, 0}, {0, 6}, {7, 0}, {0, 8}};
  const Dataset data =
      read(with(small_scan(), {complex(source_1 + "illumination", {2, 2, 2}, probe)}));
  EXPECT_EQ(data.window, 2);
  EXPECT_EQ(data.modes, 2);
  EXPECT_EQ(data.probe, probe);
  EXPECT_EQ(data.rows, 1 + 4 + 2 + 1 + 1);
}

TEST_F(ReadTest, ReadsBackWhatItWrote) {
  Dataset data = read(with(
      small_scan(),
      {complex("entry_1/image_1/data", {9, 8}, std::vector<std::complex<float>>(72, {2, 1})),
       complex(
           source_1 + "illumination", {1, 4, 4}, std::vector<std::complex<float>>(16, {0, 1}))}));
  data.mask[3] = 0;
  data.frames[3] = data.frames[16 + 3] = data.frames[32 + 3] = 0;
  for (const bool counts : {false, true}) {
    write_dataset(path_, data, "again", counts);
    const Dataset again = read_dataset(path_);
    EXPECT_EQ(again.frames, data.frames);
    EXPECT_EQ(again.mask, data.mask);
    EXPECT_EQ(again.positions, data.positions);
    EXPECT_EQ(again.object, data.object);
    EXPECT_EQ(again.probe, data.probe);
    EXPECT_EQ(again.geometry.wavelength, data.geometry.wavelength);
  }
}

TEST_F(ReadTest, PadsFramesThatAreNotSquareAroundTheirMiddle) {
  // In frames of 2 × 4, zero frequency is at (1, 2). Padding moves it to (2, 2) of 4 × 4, and
  // reading moves it from there to the corner. The value of pixel i is i.
  std::vector<double> mask(8, 0);
  mask[1] = 1;
  const Dataset data = read(with(small_scan(),
                                 {numbers(detector_1 + "data", {1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}),
                                  numbers(detector_1 + "mask", {2, 4}, mask),
                                  numbers(translation_1, {1, 3}, {0, 0, 0})}));
  EXPECT_EQ(data.detector, 4);
  EXPECT_EQ(data.stored_rows, 2);
  EXPECT_EQ(data.stored_cols, 4);
  EXPECT_EQ(data.frames, (std::vector<float>{6, 7, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0}));
  EXPECT_EQ(data.mask, (std::vector<float>{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0}));
  const Dataset tall = read(with(small_scan(),
                                 {numbers(detector_1 + "data", {1, 3, 1}, {1, 2, 4}),
                                  numbers(translation_1, {1, 3}, {0, 0, 0})}));
  EXPECT_EQ(tall.frames, (std::vector<float>{2, 0, 0, 4, 0, 0, 1, 0, 0}));
}

/// Frames that are cut out of a simulated scan equal the model's frames of the known object and
/// probe.
TEST_F(ReadTest, PaddedFramesAreThoseOfTheModel) {
  const Dataset whole = simulate({.positions = 5, .detector = 12, .probe = 8, .step = 3});
  write_dataset(path_, whole, "whole", false);
  const hdf5::Reader file(path_);
  const std::vector<double> square = file.numbers<double>(detector_1 + "data").values;
  // Rows 3 to 9 of 12 are kept, so that the middle, row 6, is the fourth of seven.
  constexpr std::ptrdiff_t width = 12;
  std::vector<double> cut;
  for (std::size_t n = 0; n < 5; ++n) {
    const auto image = square.begin() + static_cast<std::ptrdiff_t>(144 * n);
    cut.insert(cut.end(), image + 3 * width, image + 10 * width);
  }
  const auto copied = [&](const std::string& name) {
    const auto array = file.numbers<double>(name);
    return numbers(name, array.shape, array.values);
  };
  const Dataset data =
      read({numbers(detector_1 + "data", {5, 7, 12}, cut),
            copied(detector_1 + "distance"),
            copied(detector_1 + "x_pixel_size"),
            copied(detector_1 + "y_pixel_size"),
            copied(source_1 + "wavelength"),
            copied(translation_1),
            complex("entry_1/image_1/data", {whole.rows, whole.cols}, whole.object),
            complex(source_1 + "illumination", {1, 8, 8}, whole.probe)});
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
