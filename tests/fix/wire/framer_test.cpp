// Message boundaries in streams: whole, cut anywhere, damaged, and too large.
#include "nexusfix/wire/framer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/seeded.hpp"
#include "wire/fix_text.hpp"

namespace nfx {
namespace {

using test::frame;
using test::with_soh;

struct Verdict {
  FrameStatus status;
  WireError error;
  std::size_t size;
  bool operator==(const Verdict&) const = default;
};

Verdict verdict(std::string_view bytes, std::size_t max = default_max_message_size) {
  const Frame f = next_frame(bytes, max);
  return {f.status, f.error, f.size};
}

Verdict complete(std::size_t size) { return {FrameStatus::complete, WireError::none, size}; }
Verdict need_more(std::size_t size) { return {FrameStatus::need_more, WireError::none, size}; }
Verdict garbled(WireError error, std::size_t size) { return {FrameStatus::garbled, error, size}; }
Verdict too_large(std::size_t size) { return {FrameStatus::too_large, WireError::too_large, size}; }

TEST(framer, finds_a_whole_message) {
  EXPECT_EQ(verdict(test::order), complete(test::order.size()));
  EXPECT_EQ(verdict(test::order + test::logon), complete(test::order.size()));
}

TEST(framer, data_that_looks_like_a_check_sum_does_not_end_the_message) {
  EXPECT_EQ(verdict(test::data_message), complete(test::data_message.size()));
}

TEST(framer, every_truncation_needs_more_and_never_more_than_the_message) {
  for (const std::string& message : {test::logon, test::order, test::data_message, test::parties}) {
    for (std::size_t size = 0; size < message.size(); ++size) {
      const Frame f = next_frame(std::string_view{message}.substr(0, size));
      ASSERT_EQ(f.status, FrameStatus::need_more) << size;
      ASSERT_GT(f.size, size);
      ASSERT_LE(f.size, message.size());
    }
  }
}

TEST(framer, requests_the_body_immediately_when_the_header_is_known) {
  const std::string text = with_soh("8=FIX.4.4|9=1000|");
  EXPECT_EQ(verdict(text), need_more(text.size() + 1000 + 4));
}

TEST(framer, drops_garbage_up_to_the_next_message) {
  EXPECT_EQ(verdict("xyz" + test::logon), garbled(WireError::not_fix, 3));
  EXPECT_EQ(verdict("\r\n" + test::logon), garbled(WireError::not_fix, 2));
  EXPECT_EQ(verdict("8=XYZ|" + test::logon), garbled(WireError::not_fix, 6));
}

TEST(framer, keeps_what_may_start_a_message_at_the_end_of_garbage) {
  EXPECT_EQ(verdict("garbage"), garbled(WireError::not_fix, 7));
  EXPECT_EQ(verdict("garbage8"), garbled(WireError::not_fix, 7));
  EXPECT_EQ(verdict("garbage8=FI"), garbled(WireError::not_fix, 7));
  EXPECT_EQ(verdict("8=FI8=FI"), garbled(WireError::not_fix, 4));
  EXPECT_EQ(verdict("8=F"), need_more(4));
}

TEST(framer, refuses_a_begin_string_without_end) {
  EXPECT_EQ(verdict("8=FIX.4.4567890123"), need_more(19));
  EXPECT_EQ(verdict("8=FIX.4.45678901234"), garbled(WireError::not_fix, 19));
  EXPECT_EQ(verdict(with_soh("8=FIX.4.456789012|9=")).status, FrameStatus::need_more);
  EXPECT_EQ(verdict("8=FIX.4" + test::logon), garbled(WireError::not_fix, 7));
}

TEST(framer, refuses_a_header_without_body_length) {
  EXPECT_EQ(verdict(with_soh("8=FIX.4.4|35=A|")), garbled(WireError::header_order, 15));
  EXPECT_EQ(verdict(with_soh("8=FIX.4.4|3")), garbled(WireError::header_order, 11));
  EXPECT_EQ(verdict(with_soh("8=FIX.4.4|99=5|")), garbled(WireError::header_order, 15));
}

TEST(framer, refuses_a_body_length_that_is_not_a_sensible_number) {
  for (const char* length : {"", "x", "1x", "-5", "+5", " 5", "1.0", "1234567890"}) {
    const std::string text = with_soh("8=FIX.4.4|9=" + std::string{length} + "|35=A|");
    EXPECT_EQ(verdict(text + test::logon), garbled(WireError::bad_body_length, text.size())) << length;
  }
}

TEST(framer, gives_up_a_message_announced_larger_than_the_maximum) {
  EXPECT_EQ(verdict(test::order, test::order.size()), complete(test::order.size()));
  EXPECT_EQ(verdict(test::order, test::order.size() - 1), too_large(test::order.size()));
  EXPECT_EQ(verdict(with_soh("8=FIX.4.4|9=9999999|")), too_large(20 + 9999999 + 7));
  EXPECT_EQ(verdict(with_soh("8=FIX.4.4|9=999999999|")), too_large(22 + 999999999 + 7));
}

// The message between BodyLength and CheckSum is 5 bytes long.
std::string lying(std::string_view length) { return with_soh("8=FIX.4.4|9=" + std::string{length} + "|35=0|10=163|"); }

TEST(framer, a_body_length_too_short_loses_that_message_only) {
  const std::string message = lying("3");
  EXPECT_EQ(verdict(message + test::logon), garbled(WireError::body_length_mismatch, message.size()));
}

TEST(framer, a_body_length_too_long_loses_the_following_message_too) {
  const std::string message = lying("9");
  EXPECT_EQ(verdict(message).status, FrameStatus::need_more);
  EXPECT_EQ(verdict(message + test::logon),
            garbled(WireError::body_length_mismatch, message.size() + test::logon.size()));
}

TEST(framer, decides_on_a_short_check_sum_as_soon_as_its_soh_is_there) {
  const std::string short_one = with_soh("8=FIX.4.4|9=5|35=0|10=0|");
  EXPECT_EQ(verdict(std::string_view{short_one}.substr(0, short_one.size() - 1)), need_more(short_one.size()));
  EXPECT_EQ(verdict(short_one), garbled(WireError::bad_check_sum, short_one.size()));
  EXPECT_EQ(verdict(short_one + "8="), garbled(WireError::bad_check_sum, short_one.size()));
  const std::string empty_one = with_soh("8=FIX.4.4|9=5|35=0|10=|");
  EXPECT_EQ(verdict(empty_one), garbled(WireError::bad_check_sum, empty_one.size()));
}

TEST(framer, a_soh_inside_the_check_sum_ends_it_even_when_another_is_in_the_right_place) {
  for (const char* digits : {"|63", "1|3", "16|"}) {
    const std::string text = with_soh("8=FIX.4.4|9=5|35=0|10=" + std::string{digits} + "|");
    EXPECT_EQ(verdict(text), garbled(WireError::bad_check_sum, text.find('\x01', 22) + 1)) << digits;
  }
}

TEST(framer, a_check_sum_with_too_many_digits_is_garbled) {
  const std::string long_one = with_soh("8=FIX.4.4|9=5|35=0|10=1630|");
  EXPECT_EQ(verdict(long_one + test::logon), garbled(WireError::bad_check_sum, long_one.size()));
}

TEST(framer, gives_up_when_no_check_sum_comes_within_the_maximum) {
  const std::string start = with_soh("8=FIX.4.4|9=5|35=0|");
  const std::string filled = start + std::string(100 - start.size(), 'x');
  EXPECT_EQ(verdict(std::string_view{filled}.substr(0, 99), 100), need_more(100));
  EXPECT_EQ(verdict(filled, 100), too_large(0));
  EXPECT_EQ(verdict(filled + with_soh("|10=123|"), 100), too_large(0));
}

// The frames of a stream that arrives in pieces: one letter per byte, c for complete, g for garbled. The last letter of
// a frame is a capital, to distinguish two adjacent messages from one.
std::string classify(std::string_view stream, const std::vector<std::size_t>& cuts, std::size_t max) {
  std::string result;
  std::size_t arrived = 0;
  std::size_t wanted = 0;
  for (std::size_t cut : cuts) {
    arrived = cut;
    for (;;) {
      const std::string_view buffer = stream.substr(result.size(), arrived - result.size());
      const Frame f = next_frame(buffer, max);
      if (f.status == FrameStatus::too_large) return result + '!';
      if (f.status == FrameStatus::need_more) {
        EXPECT_GT(f.size, buffer.size());
        wanted = result.size() + f.size;
        break;
      }
      EXPECT_GE(arrived, wanted) << "waited for more than the frame needs";
      EXPECT_GT(f.size, 0u);
      EXPECT_LE(f.size, buffer.size());
      if (f.size == 0 || f.size > buffer.size()) return "broken";
      result.append(f.size, f.status == FrameStatus::complete ? 'c' : 'g');
      if (f.status == FrameStatus::complete) result.back() = 'C';
    }
  }
  return result;
}

TEST(framer, random_streams_give_the_same_frames_however_they_are_cut) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  const std::string pieces[] = {test::logon,
                                test::order,
                                test::data_message,
                                lying("3"),
                                lying("9"),
                                lying("0"),
                                with_soh("8=FIX.4.4|9=5|35=0|10=0|"),
                                with_soh("8=FIX.4.4|9=5|35=0|10=1630|"),
                                "garbage",
                                "8=",
                                "8=FIX",
                                "8=FIX.4.4",
                                with_soh("8=FIX.4.4|9="),
                                with_soh("8=FIX.4.4|9=12345678|"),
                                with_soh("8=FIX.4.4|35=A|"),
                                with_soh("|10="),
                                with_soh("|10=123|"),
                                "8",
                                "=",
                                "F",
                                frame("35=0|"),
                                with_soh("8=FIX.4.4|9=290|35=0|")};
  std::size_t complete_frames = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string stream;
    for (auto n = 1 + random.below(8); n > 0; --n) stream += pieces[random.below(std::size(pieces))];
    if (random.below(2) == 0) stream[random.below(stream.size())] = static_cast<char>(random.below(256));
    const std::size_t max = random.below(2) == 0 ? 300 : default_max_message_size;
    std::vector<std::size_t> one_by_one, some;
    for (std::size_t i = 1; i <= stream.size(); ++i) {
      one_by_one.push_back(i);
      if (i == stream.size() || random.below(20) == 0) some.push_back(i);
    }
    const std::string at_once = classify(stream, {stream.size()}, max);
    ASSERT_EQ(classify(stream, one_by_one, max), at_once) << testing::PrintToString(stream);
    ASSERT_EQ(classify(stream, some, max), at_once) << testing::PrintToString(stream);
    complete_frames += static_cast<std::size_t>(std::ranges::count(at_once, 'C'));
  }
  EXPECT_GT(complete_frames, 1000u) << "the streams hold too few messages to show anything";
}

TEST(framer, finds_the_message_after_several_false_starts) {
  for (const char* garbage : {"8=FIX.4.4|9=x|", "8=FIX|8=FIY", "8=8=8=", "||||"}) {
    const std::string stream = with_soh(garbage) + test::logon;
    const std::string classes = classify(stream, {stream.size()}, default_max_message_size);
    EXPECT_EQ(std::ranges::count(classes, 'C'), 1) << garbage;
    EXPECT_EQ(classes.size(), stream.size()) << garbage;
  }
}

// A stream of valid, broken and foreign messages, cut anywhere.
std::string random_stream(test::Seeded& random) {
  const std::string bodies[] = {"35=0|34=1|", "35=D|34=12|11=A|", "35=8|34=1|58=" + std::string(130, 'x') + "|"};
  const std::string starts[] = {"FIX.4.4", "FIX.4.2", "FIXT.1.1", "FIX", "FIX.a.very.long.one"};
  std::string stream;
  for (auto n = random.below(6) + 1; n > 0; --n) {
    const std::string body = test::with_soh(bodies[random.below(std::size(bodies))]);
    std::string message = "8=" + starts[random.below(10) < 8 ? 0 : random.below(std::size(starts))] + "\x01" +
                          "9=" + std::to_string(body.size()) + "\x01" + body;
    message += test::check_sum_of(message);
    if (random.below(4) == 0) message[random.below(message.size())] = "\x01=9810\xFF"[random.below(7)];
    stream += message;
  }
  return stream.substr(0, random.below(stream.size() * 2) + 1);
}

TEST(frame_reader, answers_like_next_frame_whatever_came_before) {
  test::Seeded random;
  SCOPED_TRACE(random.trace());
  FrameReader reader{600};
  for (int i = 0; i < 20000; ++i) {
    const std::string stream = random_stream(random);
    std::string_view rest = stream;
    while (!rest.empty()) {
      const Frame expected = next_frame(rest, 600), got = reader.next(rest);
      ASSERT_EQ(got.status, expected.status) << testing::PrintToString(rest);
      ASSERT_EQ(got.error, expected.error) << testing::PrintToString(rest);
      ASSERT_EQ(got.size, expected.size) << testing::PrintToString(rest);
      if (expected.status == FrameStatus::need_more || expected.status == FrameStatus::too_large) break;
      rest.remove_prefix(expected.size);
    }
  }
}

TEST(frame_reader, keeps_to_the_maximum_for_messages_it_knows_the_start_of) {
  const std::string small = test::frame("35=0|34=1|"), large = test::frame("35=0|58=" + std::string(100, 'x') + "|");
  FrameReader reader{small.size()};
  EXPECT_EQ(reader.next(small).status, FrameStatus::complete);
  EXPECT_EQ(reader.next(small).status, FrameStatus::complete);
  EXPECT_EQ(reader.next(large).status, FrameStatus::too_large);
}

}  // namespace
}  // namespace nfx
