// Messages built in place: exact bytes, and failure instead of a write outside the buffer.
#include "nexusfix/wire/encoder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/seeded.hpp"
#include "nexusfix/wire/framer.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/fix_text.hpp"

namespace nfx {
namespace {

TEST(encoder, frames_fields_with_body_length_and_check_sum) {
  char buffer[256];
  Encoder encoder{buffer};
  encoder.begin("FIX.4.4", "A");
  encoder.fields().append(Tag::MsgSeqNum, 1).append(Tag::SenderCompID, "BUYER");
  encoder.fields().append_raw(test::with_soh("52=20240315-12:00:00.123|56=SELLER|98=0|108=30|141=Y|"));
  EXPECT_EQ(encoder.finish(), test::logon);
}

TEST(encoder, begins_anew_for_every_message) {
  char buffer[256];
  Encoder encoder{buffer};
  for (int i = 0; i < 3; ++i) {
    encoder.begin("FIXT.1.1", "0");
    EXPECT_EQ(encoder.finish(), test::frame("35=0|", "FIXT.1.1"));
    EXPECT_EQ(encoder.finish(), test::frame("35=0|", "FIXT.1.1")) << "finishing twice changes nothing";
  }
}

TEST(encoder, a_failed_message_does_not_spoil_the_next) {
  char buffer[64];
  Encoder encoder{buffer};
  encoder.begin("FIX.4.2", "0");
  encoder.fields().append(Tag::Text, std::string(100, 'x'));
  EXPECT_TRUE(encoder.finish().empty());
  encoder.begin("FIX.4.2", "0");
  EXPECT_EQ(encoder.finish(), test::frame("35=0|", "FIX.4.2"));
}

TEST(encoder, gives_nothing_without_begin) {
  char buffer[256];
  Encoder encoder{buffer};
  EXPECT_TRUE(encoder.finish().empty());
  encoder.fields().append(Tag::Text, "lost");
  EXPECT_TRUE(encoder.finish().empty());
}

TEST(encoder, refuses_a_begin_string_or_type_that_is_none) {
  char buffer[256];
  Encoder encoder{buffer};
  for (const char* begin_string : {"", "FIX.4.45678901234",
                                   "FIX\x01"
                                   "4"}) {
    encoder.begin(begin_string, "0");
    EXPECT_TRUE(encoder.finish().empty()) << begin_string;
  }
  encoder.begin("FIX.4.4567890123", "0");
  EXPECT_FALSE(encoder.finish().empty()) << "16 characters are allowed";
  encoder.begin("FIX.4.4", "\x01");
  EXPECT_TRUE(encoder.finish().empty());
}

TEST(encoder, succeeds_from_the_exact_size_on_and_never_below) {
  const std::size_t needed = Encoder::prefix_size + 5 + 8 + Encoder::trailer_size;
  for (std::size_t size = 0; size < needed + 5; ++size) {
    std::vector<char> buffer(size + 1, '#');
    Encoder encoder{std::span{buffer.data(), size}};
    encoder.begin("FIX.4.4", "0");
    encoder.fields().append(Tag::Text, "four");
    EXPECT_EQ(encoder.finish(), size >= needed ? test::frame("35=0|58=four|") : "") << size;
    EXPECT_EQ(buffer[size], '#') << size;
  }
}

TEST(encoder, writes_body_lengths_of_every_width) {
  std::vector<char> buffer(300000);
  Encoder encoder{buffer};
  MessageView view;
  for (const std::size_t text : {1u, 86u, 87u, 88u, 986u, 987u, 9986u, 9987u, 99987u, 200000u}) {
    encoder.begin("FIX.4.4", "0");
    encoder.fields().append(Tag::Text, std::string(text, 'x'));
    const std::string_view message = encoder.finish();
    ASSERT_EQ(view.parse(message), WireError::none) << text;
    EXPECT_EQ(view[1].value, std::to_string(text + 9)) << "BodyLength is not padded";
  }
}

TEST(encoder, random_messages_parse_back_to_what_was_written) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  std::vector<char> buffer(8192);
  Encoder encoder{buffer};
  MessageView view;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::pair<int, std::string>> expected;
    encoder.begin("FIX.4.4", "B");
    for (auto n = random.below(30); n > 0; --n) {
      std::string bytes;
      for (auto size = 1 + random.below(40); size > 0; --size) bytes += static_cast<char>(random.below(256));
      if (random.below(3) == 0) {
        encoder.fields().append_data(Tag::EncodedTextLen, Tag::EncodedText, bytes);
        expected.emplace_back(354, std::to_string(bytes.size()));
        expected.emplace_back(355, bytes);
      } else {
        std::ranges::replace(bytes, '\x01', '\x02');
        const auto tag = static_cast<int>(10000 + random.below(1u << 30));
        encoder.fields().append(Tag{tag}, bytes);
        expected.emplace_back(tag, bytes);
      }
    }
    const std::string_view message = encoder.finish();
    ASSERT_EQ(view.parse(message), WireError::none);
    const Frame framed = next_frame(message);
    ASSERT_EQ(framed.status, FrameStatus::complete);
    ASSERT_EQ(framed.size, message.size());
    ASSERT_EQ(view.size(), expected.size() + 4);
    for (std::uint32_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(view[i + 3].tag, Tag{expected[i].first});
      ASSERT_EQ(view[i + 3].value, expected[i].second);
    }
  }
}

HeaderTemplate session_header() {
  return HeaderTemplate{{.begin_string = "FIX.4.4", .sender_comp_id = "BUYER", .target_comp_id = "SELLER"}};
}

constexpr UtcTime noon{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + std::chrono::hours{12}};

TEST(encoder_with_header, frames_a_message_with_the_sessions_header) {
  char buffer[256];
  Encoder encoder{buffer};
  HeaderTemplate header = session_header();
  encoder.begin(header, "A", SeqNum{1}, noon + std::chrono::milliseconds{123});
  encoder.fields().append<Tag{98}>(0).append<Tag::HeartBtInt>(30).append<Tag::ResetSeqNumFlag>(true);
  EXPECT_EQ(encoder.finish(), test::logon);
  EXPECT_EQ(encoder.finish(), test::logon) << "finishing twice changes nothing";
}

TEST(encoder_with_header, succeeds_from_the_exact_size_on_and_never_below) {
  const std::string header_text = "35=AE|34=123456|49=BUYER|52=20240315-12:00:00.000|56=SELLER|";
  const std::size_t needed = Encoder::prefix_size + header_text.size() + 8 + Encoder::trailer_size;
  HeaderTemplate header = session_header();
  for (std::size_t size = 0; size < needed + 80; ++size) {
    std::vector<char> buffer(size + 64, '#');
    Encoder encoder{std::span{buffer.data(), size}};
    encoder.begin(header, "AE", SeqNum{123456}, noon);
    encoder.fields().append<Tag::Text>("four");
    EXPECT_EQ(encoder.finish(), size >= needed ? test::frame(header_text + "58=four|") : "") << size;
    EXPECT_EQ(std::string_view(buffer.data() + size, 64), std::string(64, '#')) << size;
  }
}

TEST(encoder_with_header, refuses_a_type_with_soh_and_recovers) {
  char buffer[256];
  Encoder encoder{buffer};
  HeaderTemplate header = session_header();
  encoder.begin(header, "\x01", SeqNum{1}, noon);
  encoder.fields().append<Tag::Text>("lost");
  EXPECT_TRUE(encoder.finish().empty());
  encoder.begin(header, "0", SeqNum{2}, noon);
  EXPECT_EQ(encoder.finish(), test::frame("35=0|34=2|49=BUYER|52=20240315-12:00:00.000|56=SELLER|"));
  encoder.begin("FIXT.1.1", "0");
  EXPECT_EQ(encoder.finish(), test::frame("35=0|", "FIXT.1.1")) << "without the template again";
}

TEST(encoder_with_header, writes_body_lengths_of_every_width) {
  std::vector<char> buffer(300000);
  Encoder encoder{buffer};
  HeaderTemplate header = session_header();
  for (std::uint64_t seq = 1;
       const std::size_t text : {1u, 31u, 32u, 33u, 34u, 931u, 932u, 933u, 934u, 9999u, 200000u}) {
    encoder.begin(header, "B", SeqNum{seq}, noon);
    encoder.fields().append<Tag::Text>(std::string(text, 'x'));
    ASSERT_EQ(encoder.finish(),
              test::frame("35=B|34=" + std::to_string(seq) +
                          "|49=BUYER|52=20240315-12:00:00.000|56=SELLER|58=" + std::string(text, 'x') + "|"));
    ++seq;
  }
}

TEST(check_sum_field, has_three_digits) {
  for (unsigned sum = 0; sum < 256; ++sum) {
    char out[7];
    write_check_sum_field(out, static_cast<std::uint8_t>(sum));
    EXPECT_EQ(std::string(out, 7), test::check_sum_of(std::string(1, static_cast<char>(sum))));
  }
}

}  // namespace
}  // namespace nfx
