// Parsing and lookup of fields, also in messages with many fields or large tags.
#include "nexusfix/wire/message_view.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "wire/fix_text.hpp"

namespace nfx {
namespace {

using test::frame;
using test::frame_bytes;
using test::with_check_sum;
using test::with_soh;

WireError error_of(std::string_view message) {
  MessageView view;
  const WireError error = view.parse(message);
  if (error != WireError::none) {
    EXPECT_EQ(view.size(), 0u);
    EXPECT_TRUE(view.bytes().empty());
    EXPECT_FALSE(view.has(Tag::BeginString));
  }
  return error;
}

TEST(message_view, lists_every_field_in_wire_order) {
  MessageView view;
  ASSERT_EQ(view.parse(test::logon), WireError::none);
  const std::pair<int, std::string_view> expected[] = {
      {8, "FIX.4.4"}, {9, "72"}, {35, "A"},   {34, "1"}, {49, "BUYER"}, {52, "20240315-12:00:00.123"},
      {56, "SELLER"}, {98, "0"}, {108, "30"}, {141, "Y"}};
  ASSERT_EQ(view.size(), std::size(expected) + 1);
  for (std::uint32_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(view[i].tag, Tag{expected[i].first});
    EXPECT_EQ(view.tag_at(i), Tag{expected[i].first});
    EXPECT_EQ(view[i].value, expected[i].second);
    EXPECT_EQ(view[i].value.data(), test::logon.data() + view.offset_at(i)) << "values borrow the buffer";
  }
  EXPECT_EQ(view.tag_at(view.size() - 1), Tag::CheckSum);
  EXPECT_EQ(view.begin_string(), "FIX.4.4");
  EXPECT_EQ(view.msg_type(), "A");
  EXPECT_EQ(view.bytes(), test::logon);
}

TEST(message_view, looks_up_any_tag) {
  MessageView view;
  ASSERT_EQ(view.parse(test::order), WireError::none);
  EXPECT_EQ(view.get_view(Tag::ClOrdID), "ord-7");
  EXPECT_EQ(view.get_view(Tag{5001}), "vendor");
  EXPECT_EQ(view.get_view(Tag{2147483647}), "last");
  EXPECT_EQ(view.find(Tag::BeginString), 0u);
  EXPECT_EQ(view.find(Tag::Text), MessageView::npos);
  EXPECT_FALSE(view.has(Tag{-1}));
  EXPECT_FALSE(view.has(Tag{0}));
  EXPECT_EQ(view.get_view(Tag::Text), "");
}

TEST(message_view, indexes_strange_tags_and_empty_values_for_the_session_to_judge) {
  const std::string message = frame("35=D|0=zero|-1=minus|58=|00055=padded|");
  MessageView view;
  ASSERT_EQ(view.parse(message), WireError::none);
  EXPECT_EQ(view.get_view(Tag{0}), "zero");
  EXPECT_EQ(view.get_view(Tag{-1}), "minus");
  EXPECT_TRUE(view.has(Tag::Text));
  EXPECT_EQ(view.get_view(Tag::Text), "");
  EXPECT_EQ(view.get_view(Tag::Symbol), "padded");
}

TEST(message_view, the_first_of_several_fields_with_one_tag_is_found) {
  const std::string message = frame("35=D|58=first|55=x|58=second|");
  MessageView view;
  ASSERT_EQ(view.parse(message), WireError::none);
  EXPECT_EQ(view.get_view(Tag::Text), "first");
  EXPECT_EQ(view[5].value, "second");
}

TEST(message_view, forgets_the_message_before) {
  MessageView view;
  ASSERT_EQ(view.parse(test::order), WireError::none);
  ASSERT_EQ(view.parse(test::logon), WireError::none);
  EXPECT_FALSE(view.has(Tag::ClOrdID));
  EXPECT_NE(view.parse("nonsense"), WireError::none);
  EXPECT_FALSE(view.has(Tag::MsgType));
  EXPECT_EQ(view.msg_type(), "");
}

TEST(message_view, forgets_old_messages_also_after_65536_of_them) {
  // The memory after the short messages still contains text with the old tag.
  const std::string with_text = frame("35=0|55=x|58=old|"), without = frame("35=0|");
  MessageView view{8};
  ASSERT_EQ(view.parse(with_text), WireError::none);
  for (int i = 0; i < 70000; ++i) {
    ASSERT_EQ(view.parse(without), WireError::none);
    ASSERT_FALSE(view.has(Tag::Text)) << i;
    ASSERT_TRUE(view.has(Tag::CheckSum)) << i;
  }
}

TEST(message_view, keeps_its_index_when_moved) {
  MessageView view;
  ASSERT_EQ(view.parse(test::order), WireError::none);
  const MessageView moved = std::move(view);
  EXPECT_EQ(moved.get_view(Tag::ClOrdID), "ord-7");
}

TEST(message_view, takes_data_by_its_length) {
  MessageView view;
  ASSERT_EQ(view.parse(test::data_message), WireError::none);
  EXPECT_EQ(view.get_view(Tag::RawData), with_soh("a|10=123|8=FIX.4.4|="));
  EXPECT_EQ(view.get_view(Tag::Text), "behind");
}

TEST(message_view, takes_data_of_any_bytes_and_size) {
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string data(size, '\x01');
    const std::string message = frame_bytes(
        "35=B\x01"
        "95=" +
        std::to_string(size) +
        "\x01"
        "96=" +
        data +
        "\x01"
        "58=x\x01");
    MessageView view;
    ASSERT_EQ(view.parse(message), WireError::none) << size;
    EXPECT_EQ(view.get_view(Tag::RawData), data);
    EXPECT_EQ(view.get_view(Tag::Text), "x");
    EXPECT_EQ(view.size(), 7u);
  }
}

TEST(message_view, reads_two_data_fields_in_one_message) {
  MessageView view;
  const std::string message = frame("35=B|95=3|96=a|b|354=5|355=|10=||58=x|93=2|89=||||");
  ASSERT_EQ(error_of(message), WireError::bad_tag) << "one SOH more than the signature and its end";
  const std::string right = frame("35=B|95=3|96=a|b|354=5|355=|10=||58=x|93=2|89=|||");
  ASSERT_EQ(view.parse(right), WireError::none);
  EXPECT_EQ(view.get_view(Tag::EncodedText), with_soh("|10=|"));
  EXPECT_EQ(view.get_view(Tag::Signature), with_soh("||"));
}

TEST(message_view, a_length_field_without_its_data_field_is_ordinary) {
  EXPECT_EQ(error_of(frame("35=B|95=7|58=x|96=abc|")), WireError::none);
  EXPECT_EQ(error_of(frame("35=B|95=nonsense|58=x|")), WireError::none);
  EXPECT_EQ(error_of(frame("35=B|95=3|")), WireError::none);
}

TEST(message_view, refuses_lying_data_lengths) {
  for (const char* length :
       {"", "0", "1", "2", "4", "5", "1000", "-3", "3x", "+3", "99999999999999999999999", "18446744073709551619"}) {
    EXPECT_EQ(error_of(frame("35=B|95=" + std::string{length} + "|96=abc|")), WireError::bad_data_length) << length;
  }
  EXPECT_EQ(error_of(frame("35=B|95=003|96=abc|")), WireError::none);
}

TEST(message_view, refuses_data_that_swallows_the_check_sum) {
  // The data would end at the message's last SOH, so CheckSum is part of it.
  EXPECT_EQ(error_of(frame("35=B|95=10|96=abc|")), WireError::bad_check_sum);
}

TEST(message_view, refuses_tags_that_are_not_numbers) {
  for (const char* field :
       {"49x=y", "4garbled9=y", "=y", "y", "", "-=y", "--1=y", "+1=y", " 1=y", "1 =y", "2147483648=y", "-2147483649=y",
        "12345678901=y", "99999999999999999999=y", "00000000001=y"}) {
    EXPECT_EQ(error_of(frame("35=D|" + std::string{field} + "|55=x|")), WireError::bad_tag) << field;
  }
  EXPECT_EQ(error_of(frame("35=D|-2147483648=y|0000000001=y|")), WireError::none);
}

TEST(message_view, refuses_a_header_out_of_order) {
  EXPECT_EQ(error_of(with_check_sum("8=FIX.4.4|35=0|9=5|")), WireError::header_order);
  EXPECT_EQ(error_of(with_check_sum("9=5|8=FIX.4.4|35=0|")), WireError::header_order);
  EXPECT_EQ(error_of(frame("34=1|35=0|")), WireError::header_order);
  EXPECT_EQ(error_of(with_soh("8=FIX.4.4|")), WireError::header_order);
}

TEST(message_view, refuses_a_body_length_that_is_not_a_number) {
  for (const char* length : {"", "x", "-5", "5x", "00000005", "12345678"}) {
    EXPECT_EQ(error_of(with_check_sum("8=FIX.4.4|9=" + std::string{length} + "|35=0|")), WireError::bad_body_length)
        << length;
  }
  EXPECT_EQ(error_of(with_check_sum("8=FIX.4.4|9=005|35=0|")), WireError::none);
}

TEST(message_view, refuses_a_body_length_one_off) {
  EXPECT_EQ(error_of(with_check_sum("8=FIX.4.4|9=4|35=0|")), WireError::body_length_mismatch);
  EXPECT_EQ(error_of(with_check_sum("8=FIX.4.4|9=6|35=0|")), WireError::body_length_mismatch);
  EXPECT_EQ(error_of(with_check_sum("8=FIX.4.4|9=5|35=0|")), WireError::none);
}

TEST(message_view, refuses_a_check_sum_of_the_wrong_form) {
  for (const char* sum : {"", "1", "16", "1630", "x63", "-63", " 63"}) {
    EXPECT_EQ(error_of(with_soh("8=FIX.4.4|9=5|35=0|10=" + std::string{sum} + "|")), WireError::bad_check_sum) << sum;
  }
  EXPECT_EQ(error_of(with_soh("8=FIX.4.4|9=5|35=0|010=163|")), WireError::bad_check_sum);
  EXPECT_EQ(error_of(with_soh("8=FIX.4.4|9=5|35=0|58=x|")), WireError::bad_check_sum);
}

TEST(message_view, refuses_every_other_check_sum) {
  int accepted = 0;
  for (int sum = 0; sum < 1000; ++sum) {
    const std::string digits = std::to_string(1000 + sum).substr(1);
    const WireError error = error_of(with_soh("8=FIX.4.4|9=5|35=0|10=" + digits + "|"));
    if (error == WireError::none) {
      ++accepted;
    } else {
      EXPECT_EQ(error, WireError::check_sum_mismatch);
    }
  }
  EXPECT_EQ(accepted, 1);
}

TEST(message_view, refuses_bytes_after_the_check_sum) {
  EXPECT_EQ(error_of(test::logon + "8"), WireError::truncated);
  EXPECT_NE(error_of(test::logon + with_soh("58=x|")), WireError::none);
  EXPECT_NE(error_of(test::logon + test::logon), WireError::none);
  EXPECT_EQ(error_of(""), WireError::truncated);
}

TEST(message_view, holds_exactly_max_fields_fields) {
  MessageView exact{11};
  EXPECT_EQ(exact.parse(test::logon), WireError::none);
  MessageView small{10};
  EXPECT_EQ(small.parse(test::logon), WireError::too_many_fields);
  EXPECT_EQ(small.size(), 0u);
  EXPECT_EQ(MessageView{1}.parse(test::logon), WireError::too_many_fields);
}

TEST(message_view, finds_each_of_32768_different_tags) {
  std::string body = "35=D|";
  for (int tag = 100001; tag <= 100000 + 32768 - 4; ++tag)
    body += std::to_string(tag) + '=' + std::to_string(tag) + '|';
  const std::string message = frame(body);
  MessageView view{32768};
  ASSERT_EQ(view.parse(message), WireError::none);
  ASSERT_EQ(view.size(), 32768u);
  for (int tag = 100001; tag <= 100000 + 32768 - 4; ++tag) ASSERT_EQ(view.get_view(Tag{tag}), std::to_string(tag));
  EXPECT_FALSE(view.has(Tag{100000}));
}

TEST(message_view, cannot_be_made_without_space_or_beyond_its_index) {
  EXPECT_THROW(MessageView{0}, std::invalid_argument);
  EXPECT_THROW(MessageView{MessageView::most_fields + 1}, std::invalid_argument);
}

TEST(message_view, reads_typed_values) {
  MessageView view;
  ASSERT_EQ(view.parse(test::order), WireError::none);
  EXPECT_EQ(view.get_int(Tag::OrderQty), 100);
  EXPECT_EQ(view.get_seq_num(Tag::MsgSeqNum), SeqNum{7});
  EXPECT_EQ(view.get_decimal(Tag::Price), Decimal(2323, 2));
  EXPECT_EQ(view.get_char(Tag::Side), '1');
  const auto time = view.get_utc_timestamp(Tag::SendingTime);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->fraction_digits, 6);
  ASSERT_EQ(view.parse(test::logon), WireError::none);
  EXPECT_EQ(view.get_bool(Tag::ResetSeqNumFlag), true);
}

TEST(message_view, distinguishes_missing_from_malformed_values) {
  MessageView view;
  const std::string message = frame("35=D|34=-1|58=text|59=|60=99999999999999999999|");
  ASSERT_EQ(view.parse(message), WireError::none);
  for (const Tag tag : {Tag::Text, Tag::TimeInForce}) {
    EXPECT_EQ(view.get_int(tag).error(), FieldError::bad_format);
    EXPECT_EQ(view.get_seq_num(tag).error(), FieldError::bad_format);
    EXPECT_EQ(view.get_decimal(tag).error(), FieldError::bad_format);
    EXPECT_EQ(view.get_char(tag).error(), FieldError::bad_format);
    EXPECT_EQ(view.get_bool(tag).error(), FieldError::bad_format);
    EXPECT_EQ(view.get_utc_timestamp(tag).error(), FieldError::bad_format);
  }
  EXPECT_EQ(view.get_int(Tag::Account).error(), FieldError::missing);
  EXPECT_EQ(view.get_seq_num(Tag::Account).error(), FieldError::missing);
  EXPECT_EQ(view.get_decimal(Tag::Account).error(), FieldError::missing);
  EXPECT_EQ(view.get_char(Tag::Account).error(), FieldError::missing);
  EXPECT_EQ(view.get_bool(Tag::Account).error(), FieldError::missing);
  EXPECT_EQ(view.get_utc_timestamp(Tag::Account).error(), FieldError::missing);
  EXPECT_EQ(view.get_seq_num(Tag::MsgSeqNum).error(), FieldError::bad_format);
  EXPECT_EQ(view.get_int(Tag::TransactTime).error(), FieldError::out_of_range);
}

TEST(lenient_parse, reports_what_is_wrong_and_keeps_the_fields) {
  MessageView view;
  const std::string wrong_sum = with_soh("8=FIX.4.4|9=5|35=0|10=000|");
  EXPECT_EQ(view.parse_leniently(wrong_sum), WireError::check_sum_mismatch);
  EXPECT_EQ(view.size(), 4u);
  const std::string wrong_length = with_check_sum("8=FIX.4.4|9=50|35=0|");
  EXPECT_EQ(view.parse_leniently(wrong_length), WireError::body_length_mismatch);
  EXPECT_EQ(view.msg_type(), "0");
  const std::string no_sum = with_soh("8=FIX.4.4|9=5|35=0|58=x|");
  EXPECT_EQ(view.parse_leniently(no_sum), WireError::bad_check_sum);
  EXPECT_EQ(view.get_view(Tag::Text), "x");
  const std::string no_header = with_soh("55=MSFT|54=1|");
  EXPECT_EQ(view.parse_leniently(no_header), WireError::header_order);
  EXPECT_EQ(view.get_view(Tag::Symbol), "MSFT");
}

TEST(lenient_parse, keeps_what_is_before_a_malformed_field) {
  MessageView view;
  const std::string bad_tag = frame("35=D|55=MSFT|4x=1|58=lost|");
  EXPECT_EQ(view.parse_leniently(bad_tag), WireError::bad_tag);
  EXPECT_EQ(view.get_view(Tag::Symbol), "MSFT");
  EXPECT_FALSE(view.has(Tag::Text));
  EXPECT_EQ(view.bytes(), bad_tag);
  const std::string cut = with_soh("8=FIX.4.4|9=5|35=0|58=hal");
  EXPECT_EQ(view.parse_leniently(cut), WireError::truncated);
  EXPECT_EQ(view.size(), 3u);
  MessageView small{4};
  EXPECT_EQ(small.parse_leniently(test::logon), WireError::too_many_fields);
  EXPECT_EQ(small.size(), 4u);
}

TEST(lenient_parse, accepts_a_right_message_like_parse) {
  MessageView view;
  EXPECT_EQ(view.parse_leniently(test::order), WireError::none);
  EXPECT_EQ(view.get_view(Tag::ClOrdID), "ord-7");
}

}  // namespace
}  // namespace nfx
