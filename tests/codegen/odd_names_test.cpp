// Names that C++ does not allow, and names that collide: odd_names.xml has one of each kind.
#include <type_traits>

#include "odd/messages.hpp"
#include "support.hpp"

namespace nfx::codegen_test {
namespace {

namespace odd = venue::odd;

TEST(OddNames, keyword_gets_an_underscore) {
  const Received message{"U1", "5002=first|5007=3|"};
  const odd::Status status{message.view()};
  EXPECT_EQ(status.class_(), "first");
  EXPECT_EQ(*status.int_(), 3);
  EXPECT_TRUE(status.has_class_());
}

TEST(OddNames, fields_that_would_share_a_name_are_told_apart) {
  const Received message{"U1", "5003=1.5|5004=N|5005=7|"};
  const odd::Status status{message.view()};
  EXPECT_EQ(*status.price(), Decimal(15, 1));
  EXPECT_TRUE(status.has_price());
  EXPECT_FALSE(*status.has_price_field());
  EXPECT_EQ(*status.price_5005(), 7);
}

TEST(OddNames, field_cannot_take_the_place_of_a_classs_own_member) {
  const Received message{"U1", "5006=a\"b|"};
  const odd::Status status{message.view()};
  EXPECT_EQ(&status.view(), &message.view());
  EXPECT_EQ(status.view_field(), odd::ViewValue::quoted);
  EXPECT_EQ(odd::ViewValue::new_, "c\\");
}

TEST(OddNames, field_cannot_hide_a_function_of_a_draft) {
  char space[64];
  odd::FieldsBuilder message{space};
  message.reject_field("a").send_or_reject_field("b");
  EXPECT_EQ(with_bars(message.body()), "5014=a|5015=b|");
}

TEST(OddNames, message_keeps_its_name_and_the_enumeration_gives_way) {
  static_assert(std::is_class_v<odd::Status>);
  static_assert(std::is_enum_v<odd::StatusValue>);
  const Received message{"U1", "5001='|"};
  EXPECT_EQ(odd::Status{message.view()}.status(), odd::StatusValue::quote);
}

TEST(OddNames, values_that_would_share_a_name_are_told_apart) {
  EXPECT_EQ(static_cast<char>(odd::StatusValue::same), '3');
  EXPECT_EQ(static_cast<char>(odd::StatusValue::same_value_4), '4');
  EXPECT_EQ(static_cast<char>(odd::StatusValue::value_1st_half), '2');
  EXPECT_EQ(static_cast<char>(odd::StatusValue::backslash), '\\');
}

TEST(OddNames, message_called_like_the_header_is_told_apart) {
  static_assert(odd::HeaderMessage::msg_type == "U2");
  static_assert(odd::Fields::msg_type == "U3");
  const Received message{"U2", "5002=x|"};
  EXPECT_EQ(odd::HeaderMessage{message.view()}.class_(), "x");
  EXPECT_EQ(odd::Header{message.view()}.msg_type_field(), "U2");
}

TEST(OddNames, group_with_two_shapes_is_named_for_its_messages) {
  static_assert(odd::StatusNoLegsEntry::shape.members.size() == 2);
  static_assert(odd::HeaderMessageNoLegsEntry::shape.members.size() == 1);
  static_assert(std::is_same_v<decltype(*odd::Status{std::declval<const MessageView&>()}.no_legs().begin()),
                               odd::StatusNoLegsEntry>);
}

TEST(OddNames, numbers_beyond_a_byte_are_listed_too) {
  for (const auto& [text, listed] : {std::pair{"-1", true},
                                     {"0", true},
                                     {"127", true},
                                     {"128", true},
                                     {"70000", true},
                                     {"1", false},
                                     {"-2", false}}) {
    const Received message{"U1", std::string{"5009="} + text + "|"};
    EXPECT_EQ(odd::Status{message.view()}.phase().has_value(), listed) << text;
  }
}

TEST(OddNames, enumeration_that_allows_other_values_gives_them) {
  const Received other{"U1", "5010=7|"};
  EXPECT_EQ(odd::Status{other.view()}.kind(), odd::Kind{7});
  const Received large{"U1", "5010=3000000000|"};
  EXPECT_EQ(odd::Status{large.view()}.kind().error(), FieldError::out_of_range);
}

TEST(OddNames, values_that_are_one_number_stay_two_texts) {
  EXPECT_EQ(odd::Code::one, "1");
  EXPECT_EQ(odd::Code::zero_one, "01");
  const Received message{"U3", "5011=01|"};
  EXPECT_EQ(*odd::Fields{message.view()}.code(), 1);
}

TEST(OddNames, data_in_front_of_its_length_is_still_paired_with_it) {
  char space[64];
  odd::FieldsBuilder built{space};
  built.blob("abc");
  EXPECT_EQ(with_bars(built.body()), "5012=3|5013=abc|");
}

}  // namespace
}  // namespace nfx::codegen_test
