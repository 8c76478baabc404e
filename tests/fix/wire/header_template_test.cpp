// Headers of a session compared with headers assembled from strings.
#include "nexusfix/wire/encoder.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/seeded.hpp"
#include "wire/fix_text.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;
using test::with_soh;

constexpr UtcTime noon{std::chrono::sys_days{std::chrono::year{2024} / 3 / 15} + std::chrono::hours{12}};

HeaderTexts texts() { return {.begin_string = "FIX.4.4", .sender_comp_id = "BUYER", .target_comp_id = "SELLER"}; }

// The reference header from MsgType on, assembled from strings.
std::string plain_header(const HeaderTexts& t, const MessageHeader& header) {
  char time[max_utc_timestamp_size];
  const std::size_t size = write_utc_timestamp(time, header.sending_time, t.timestamp_digits);
  std::string text = "35=" + std::string{header.msg_type} + "|34=" + std::to_string(value(header.seq)) + "|";
  if (header.poss_dup) text += "43=Y|";
  text += "49=" + std::string{t.sender_comp_id} + "|52=" + std::string(time, size) +
          "|56=" + std::string{t.target_comp_id} + "|";
  return with_soh(text) + std::string{t.more_fields};
}

// Writes with `room` characters and compares; also checks that nothing after them is written.
void expect_header(HeaderTemplate& header_template, const HeaderTexts& t, const MessageHeader& header,
                   std::size_t room) {
  const std::string expected = plain_header(t, header);
  ASSERT_EQ(header_template.size(header), expected.size());
  std::vector<char> buffer(room + 64, '#');
  std::uint32_t sum = 5;
  char* const end = header_template.write(header, buffer.data(), buffer.data() + room, sum);
  ASSERT_EQ(std::string_view(buffer.data() + room, 64), std::string(64, '#')) << "written past " << room;
  if (room < expected.size()) {
    ASSERT_EQ(end, nullptr);
    return;
  }
  ASSERT_NE(end, nullptr);
  ASSERT_EQ(std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data())), expected);
  ASSERT_EQ(static_cast<std::uint8_t>(sum - 5), check_sum(expected));
}

TEST(header_template, writes_the_fields_in_the_order_of_the_session) {
  HeaderTemplate header{texts()};
  expect_header(header, texts(), {.msg_type = "D", .seq = SeqNum{7}, .sending_time = noon + 123ms}, 200);
  char buffer[200];
  std::uint32_t sum = 0;
  const char* const end = header.write(
      {.msg_type = "D", .seq = SeqNum{7}, .sending_time = noon + 123ms, .poss_dup = true}, buffer, buffer + 200, sum);
  EXPECT_EQ(std::string_view(buffer, static_cast<std::size_t>(end - buffer)),
            with_soh("35=D|34=7|43=Y|49=BUYER|52=20240315-12:00:00.123|56=SELLER|"));
}

TEST(header_template, follows_sequence_numbers_through_every_change_of_length) {
  HeaderTemplate header{texts()};
  for (std::uint64_t power = 10;; power *= 10) {
    for (std::uint64_t seq = power - 3; seq != power + 3; ++seq) {
      expect_header(header, texts(), {.msg_type = "D", .seq = SeqNum{seq}, .sending_time = noon}, 200);
    }
    if (power == 10'000'000'000'000'000'000u) break;
  }
  for (std::uint64_t seq = 1; seq < 12'000; ++seq) {
    expect_header(header, texts(), {.msg_type = "D", .seq = SeqNum{seq}, .sending_time = noon}, 200);
  }
  // Back again, as after a reset, and to the ends.
  for (const std::uint64_t seq : {1u, 11'999u, 999u, 1000u, 0u}) {
    expect_header(header, texts(), {.msg_type = "D", .seq = SeqNum{seq}, .sending_time = noon}, 200);
  }
  expect_header(header, texts(), {.msg_type = "D", .seq = SeqNum{UINT64_MAX}, .sending_time = noon}, 200);
}

TEST(header_template, follows_the_clock_across_seconds_minutes_and_days) {
  HeaderTemplate header{texts()};
  for (const Duration step : {Duration{0ms}, Duration{999ms}, Duration{1s}, Duration{59s + 999ms}, Duration{60s},
                              Duration{12h - 1ns}, Duration{12h}, Duration{-1ns}, Duration{0ms}}) {
    expect_header(header, texts(), {.msg_type = "0", .seq = SeqNum{1}, .sending_time = noon + step}, 200);
  }
}

TEST(header_template, random_headers_equal_plain_text_in_any_space) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  for (int round = 0; round < 2000; ++round) {
    const std::string sender(random.below(40), 'S'), target(random.below(40), 'T');
    const std::string more =
        random.below(2) == 0 ? "" : with_soh("57=DESK|50=" + std::string(random.below(40), 'x') + "|");
    const HeaderTexts t{.begin_string = "FIXT.1.1",
                        .sender_comp_id = sender,
                        .target_comp_id = target,
                        .more_fields = more,
                        .timestamp_digits = static_cast<unsigned>(random.below(10))};
    HeaderTemplate header{t};
    UtcTime time = noon;
    for (int i = 0; i < 10; ++i) {
      time += Duration{static_cast<std::int64_t>(random.below(2'000'000'000))};
      const std::string type(random.below(4), 'A');
      const MessageHeader h{.msg_type = type,
                            .seq = SeqNum{random.generator() >> random.below(64)},
                            .sending_time = time,
                            .poss_dup = random.below(2) == 0};
      const std::size_t size = header.size(h);
      for (const std::size_t room : {std::size_t{0}, size - 1, size, size + 1 + random.below(60), size + 200}) {
        expect_header(header, t, h, room);
      }
    }
  }
}

TEST(header_template, puts_the_front_right_before_the_body) {
  for (const char* begin_string : {"F", "FIX.4.4", "FIXT.1.1", "FIX.4.45678", "FIX.4.4567890123"}) {
    HeaderTexts t = texts();
    t.begin_string = begin_string;
    const HeaderTemplate header{t};
    for (const std::size_t length : {0u, 1u, 9u, 10u, 99u, 100u, 101u, 999u, 1000u, 99'999u, 9'999'999u}) {
      const std::string expected = "8=" + std::string{begin_string} + with_soh("|9=" + std::to_string(length) + "|");
      ASSERT_EQ(header.front_size(length), expected.size());
      // Exactly the space needed before the body: a message may begin where its buffer begins.
      std::vector<char> buffer(expected.size() + 8, '#');
      std::uint32_t sum = 0;
      char* const body = buffer.data() + expected.size();
      ASSERT_EQ(header.write_front(body, length, sum), buffer.data());
      ASSERT_EQ(std::string_view(buffer.data(), buffer.size()), expected + std::string(8, '#'));
      ASSERT_EQ(static_cast<std::uint8_t>(sum), check_sum(expected));
    }
  }
}

TEST(header_template, refuses_a_message_type_with_soh) {
  HeaderTemplate header{texts()};
  char buffer[200];
  std::uint32_t sum = 0;
  EXPECT_EQ(header.write({.msg_type = "\x01", .seq = SeqNum{1}}, buffer, buffer + 200, sum), nullptr);
  EXPECT_EQ(header.write({.msg_type = "A\x01", .seq = SeqNum{1}}, buffer, buffer + 200, sum), nullptr);
}

TEST(header_template, refuses_texts_that_make_no_header) {
  const auto refused = [](auto change) {
    HeaderTexts t = texts();
    change(t);
    EXPECT_THROW(HeaderTemplate{t}, std::invalid_argument);
  };
  refused([](HeaderTexts& t) { t.begin_string = ""; });
  refused([](HeaderTexts& t) { t.begin_string = "FIX.4.45678901234"; });
  refused([](HeaderTexts& t) { t.begin_string = "FIX\x01"; });
  refused([](HeaderTexts& t) { t.sender_comp_id = "A\x01"; });
  refused([](HeaderTexts& t) { t.target_comp_id = "\x01"; });
  refused([](HeaderTexts& t) { t.more_fields = "57=DESK"; });
  refused([](HeaderTexts& t) { t.timestamp_digits = 10; });
}

TEST(header_template, reports_the_sending_time_it_would_write) {
  HeaderTemplate header{texts()};
  EXPECT_EQ(header.sending_time(noon + 7ms), "20240315-12:00:00.007");
  EXPECT_EQ(header.sending_time(noon + 61s), "20240315-12:01:01.000");
  expect_header(header, texts(), {.msg_type = "0", .seq = SeqNum{1}, .sending_time = noon + 61s}, 200);
}

}  // namespace
}  // namespace nfx
