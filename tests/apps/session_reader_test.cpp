// The place of a frame relative to the last one that a reader has taken.
#include "cluster/session_reader.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "cluster/cluster_testing.hpp"

namespace nfx::app::cluster_tools {
namespace {

using nfx::cluster::FrameKind;
using nfx::cluster::Record;
using nfx::cluster::RecordKind;

// After frame 4 of epoch 2 by gateway 9.
FramePlace place_of_frame(std::uint64_t number, std::uint64_t epoch, const std::vector<Record>& records) {
  const std::string bytes = nfx::cluster::testing::make_frame(
      nfx::cluster::testing::header_of(FrameKind::records, number, epoch, 9), records);
  nfx::cluster::FrameView frame;
  EXPECT_EQ(decode_frame(bytes, frame), nfx::cluster::FrameError::none);
  const TakenFrame last{.number = 4, .epoch = 2, .gateway = 9, .end = {}, .resume = {}};
  return place_of(frame, last, nfx::cluster::testing::test_session);
}

const std::vector<Record> reset{{.kind = RecordKind::reset}};

TEST(PlaceOf, later_frame_is_after_a_hole) { EXPECT_EQ(place_of_frame(6, 2, {}), FramePlace::hole); }

TEST(PlaceOf, later_frame_that_begins_with_a_reset_is_after_frames_that_were_removed) {
  EXPECT_EQ(place_of_frame(6, 2, reset), FramePlace::after_removed);
  EXPECT_EQ(place_of_frame(60, 7, reset), FramePlace::after_removed) << "of any owner";
}

TEST(PlaceOf, next_frame_that_begins_with_a_reset_has_to_be_of_the_same_owner) {
  EXPECT_EQ(place_of_frame(5, 2, reset), FramePlace::next);
  EXPECT_THROW(static_cast<void>(place_of_frame(5, 3, reset)), std::runtime_error);
}

}  // namespace
}  // namespace nfx::app::cluster_tools
