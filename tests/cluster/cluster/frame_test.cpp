// Frames: what is written is read, and nothing else is.
#include "cluster/frame.hpp"

#include <cstring>

#include "base/crc32c.hpp"
#include "cluster/cluster_testing.hpp"

namespace nfx::cluster {
namespace {

using namespace testing;

std::string three_records() {
  FrameHeader header = header_of(FrameKind::records, 3, 2, 9);
  header.first_inbound = SeqNum{5};
  header.first_outbound = SeqNum{7};
  header.outbound_limit = SeqNum{20};
  return make_frame(header, {{RecordKind::inbound, SeqNum{5}, ""},
                             {RecordKind::outbound, SeqNum{8}, "hello"},
                             {RecordKind::inbound, SeqNum{6}, "x"}});
}

// With the checksum that belongs to the changed bytes, so that the check after it is reached.
template <class Field>
std::string with(std::string frame, std::size_t offset, Field changed) {
  std::memcpy(frame.data() + offset, &changed, sizeof changed);
  const std::uint32_t crc = crc32c(std::string_view{frame}.substr(80), crc32c(std::string_view{frame}.substr(0, 76)));
  std::memcpy(frame.data() + 76, &crc, sizeof crc);
  return frame;
}

FrameError error_of(std::string_view bytes) {
  FrameView view;
  return decode_frame(bytes, view);
}

TEST(Frame, is_read_as_it_was_written) {
  const std::string bytes = three_records();
  FrameView view;
  ASSERT_EQ(decode_frame(bytes, view), FrameError::none);
  EXPECT_EQ(view.header.session, test_session);
  EXPECT_EQ(view.header.epoch, Epoch{2});
  EXPECT_EQ(view.header.gateway, GatewayId{9});
  EXPECT_EQ(view.header.number, FrameNumber{3});
  EXPECT_EQ(view.end, (Counters{.inbound = SeqNum{7}, .outbound = SeqNum{9}}));
  EXPECT_EQ(counters_after(view), (Counters{.inbound = SeqNum{7}, .outbound = SeqNum{20}}));
  std::string_view rest = view.records;
  EXPECT_EQ(take_record(rest).seq, SeqNum{5});
  const Record second = take_record(rest);
  EXPECT_EQ(second.kind, RecordKind::outbound);
  EXPECT_EQ(second.bytes, "hello");
  EXPECT_EQ(take_record(rest).bytes, "x");
  EXPECT_TRUE(rest.empty());
  EXPECT_FALSE(begins_with_reset(view));
}

TEST(Frame, of_every_shorter_length_is_an_error) {
  const std::string bytes = three_records();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(error_of(std::string_view{bytes}.substr(0, size)), FrameError::none) << size;
}

TEST(Frame, with_any_bit_changed_is_an_error) {
  const std::string bytes = three_records();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(error_of(changed), FrameError::none) << bit;
  }
}

TEST(Frame, error_names_what_is_wrong) {
  const std::string bytes = three_records();
  EXPECT_EQ(error_of(bytes.substr(0, 79)), FrameError::too_short);
  EXPECT_EQ(error_of(std::string(max_frame_size + 1, 'x')), FrameError::too_long);
  EXPECT_EQ(error_of(with(bytes, 0, std::uint32_t{1})), FrameError::bad_magic);
  EXPECT_EQ(error_of(with(bytes, 4, std::uint16_t{2})), FrameError::unsupported_version);
  EXPECT_EQ(error_of(bytes + "x"), FrameError::bad_checksum);
  EXPECT_EQ(error_of(with(bytes, 6, std::uint8_t{3})), FrameError::bad_header);
  EXPECT_EQ(error_of(with(bytes, 7, std::uint8_t{1})), FrameError::bad_header);
  EXPECT_EQ(error_of(with(bytes, 72, std::uint32_t{1})), FrameError::bad_header);
  for (const std::size_t offset : {16U, 24U, 32U, 40U, 48U, 56U})
    EXPECT_EQ(error_of(with(bytes, offset, std::uint64_t{0})), FrameError::bad_header) << offset;
  for (const std::size_t offset : {16U, 32U, 40U, 48U, 56U})
    EXPECT_EQ(error_of(with(bytes, offset, max_counter + 1)), FrameError::bad_header) << offset;
  EXPECT_EQ(error_of(with(bytes, 68, std::uint32_t{1})), FrameError::bad_length);
  EXPECT_EQ(error_of(with(bytes, 64, std::uint32_t{2})), FrameError::bad_length);
  EXPECT_EQ(error_of(with(bytes, 64, std::uint32_t{4})), FrameError::bad_length);
  EXPECT_EQ(error_of(with(bytes, 64, ~std::uint32_t{0})), FrameError::bad_length);
  EXPECT_EQ(error_of(with(bytes, 80 + 8, ~std::uint32_t{0})), FrameError::bad_length);  // the first record's size
  EXPECT_EQ(error_of(with(bytes, 80 + 12, std::uint8_t{0})), FrameError::bad_record);
  EXPECT_EQ(error_of(with(bytes, 80 + 12, std::uint8_t{4})), FrameError::bad_record);
  EXPECT_EQ(error_of(with(bytes, 80 + 13, std::uint8_t{1})), FrameError::bad_record);
  EXPECT_EQ(error_of(with(bytes, 80, std::uint64_t{4})), FrameError::bad_record);  // before the first inbound number
  EXPECT_EQ(error_of(with(bytes, 80, max_counter)), FrameError::bad_record);
}

TEST(Frame, of_an_epoch_has_no_records) {
  const std::string epoch = make_frame(header_of(FrameKind::epoch, 1, 1, 1));
  EXPECT_EQ(error_of(epoch), FrameError::none);
  const std::string records =
      make_frame(header_of(FrameKind::records, 1, 1, 1), {{RecordKind::inbound, SeqNum{1}, ""}});
  EXPECT_EQ(error_of(with(with(records, 6, FrameKind::epoch), 72, std::uint32_t{1})), FrameError::bad_header);
  EXPECT_EQ(error_of(with(epoch, 72, std::uint32_t{0})), FrameError::bad_header) << "a claim counts its attempt";
}

TEST(Frame, with_a_reset_starts_both_sequence_numbers_again) {
  FrameHeader header = header_of(FrameKind::records, 9, 1, 1);
  header.first_inbound = SeqNum{100};
  header.first_outbound = SeqNum{200};
  const std::string bytes =
      make_frame(header, {{RecordKind::reset, SeqNum{}, ""}, {RecordKind::outbound, SeqNum{1}, "logon"}});
  FrameView view;
  ASSERT_EQ(decode_frame(bytes, view), FrameError::none);
  EXPECT_TRUE(begins_with_reset(view));
  EXPECT_EQ(view.end, (Counters{.inbound = SeqNum{1}, .outbound = SeqNum{2}}));
  EXPECT_EQ(error_of(with(bytes, 80, std::uint64_t{1})), FrameError::bad_record);  // a reset has no sequence number
}

TEST(Frame, ids_of_sessions_are_part_of_the_format) {
  EXPECT_NE(session_id("FIX.4.4:DESK->VENUE"), session_id("FIX.4.4:DESK->VENUE2"));
  EXPECT_EQ(std::to_underlying(session_id("FIX.4.4:DESK->VENUE")), 11611209863570561040U);
}

}  // namespace
}  // namespace nfx::cluster
