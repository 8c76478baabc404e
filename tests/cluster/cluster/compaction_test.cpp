// Which frames an operator may remove.
#include "cluster/compaction.hpp"

#include "cluster/cluster_testing.hpp"

namespace nfx::cluster {
namespace {

using namespace testing;

struct Frames {
  Compaction compaction;
  std::uint64_t number = 0, bytes = 0;

  void add(std::uint64_t sequence, const std::vector<Record>& records) {
    const std::string bytes_of = make_frame(header_of(FrameKind::records, ++number, 1, 1), records);
    FrameView frame;
    ASSERT_EQ(decode_frame(bytes_of, frame), FrameError::none);
    bytes += bytes_of.size();
    compaction.add(StreamSeq{sequence}, frame);
  }
};

const Record order{.kind = RecordKind::outbound, .seq = SeqNum{1}, .bytes = "order"};
const Record reset{.kind = RecordKind::reset};

TEST(Compaction, keeps_the_last_frame_that_begins_with_a_reset_and_all_after_it) {
  Frames of;
  of.add(3, {order});
  of.add(5, {reset});
  of.add(8, {order});
  const std::uint64_t before = of.bytes;
  of.add(13, {reset, order});
  of.add(21, {order});
  EXPECT_EQ(of.compaction.keep_from(), StreamSeq{13});
  EXPECT_EQ(of.compaction.useless(), (FrameCount{.frames = 3, .bytes = before}));
  EXPECT_EQ(of.compaction.all(), (FrameCount{.frames = 5, .bytes = of.bytes}));
}

TEST(Compaction, keeps_everything_without_a_reset) {
  Frames of;
  of.add(3, {order});
  EXPECT_EQ(of.compaction.keep_from(), StreamSeq{});
  EXPECT_FALSE(of.compaction.has_reset());
}

TEST(Compaction, keeps_everything_when_nothing_is_before_the_reset) {
  Frames of;
  of.add(3, {reset});
  of.add(4, {order});
  EXPECT_EQ(of.compaction.keep_from(), StreamSeq{});
  EXPECT_EQ(of.compaction.useless(), FrameCount{});
  EXPECT_TRUE(of.compaction.has_reset());
}

TEST(Compaction, keeps_a_frame_with_a_reset_that_is_not_its_first_record) {
  Frames of;
  of.add(3, {order});
  of.add(5, {order, reset});
  EXPECT_EQ(of.compaction.keep_from(), StreamSeq{});
}

TEST(Compaction, keeps_what_a_copy_does_not_have_yet) {
  Frames of;
  of.compaction = Compaction{StreamSeq{8}};
  of.add(3, {order});
  of.add(8, {reset});
  of.add(13, {order});
  EXPECT_FALSE(of.compaction.waits_for_copy());
  of.add(21, {reset});
  EXPECT_EQ(of.compaction.keep_from(), StreamSeq{8});
  EXPECT_EQ(of.compaction.useless().frames, 1U);
  EXPECT_TRUE(of.compaction.waits_for_copy());
}

}  // namespace
}  // namespace nfx::cluster
