// The dictionaries in dictionaries/ have QuickFIX's own format: QuickFIX must load them and validate messages by them.
#include <gtest/gtest.h>
#include <quickfix/DataDictionary.h>
#include <quickfix/Message.h>

#include <algorithm>
#include <string>

#include "group_orders.hpp"

namespace {

std::string path(const std::string& name) { return std::string(NFX_SOURCE_DIR "/dictionaries/") + name; }

// '|' means SOH; inserts BodyLength and CheckSum.
std::string framed(const std::string& begin_string, std::string body) {
  std::replace(body.begin(), body.end(), '|', '\001');
  std::string bytes = "8=" + begin_string + "\0019=" + std::to_string(body.size()) + '\001' + body;
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  const std::string digits = std::to_string(sum % 256);
  return bytes + "10=" + std::string(3 - digits.size(), '0') + digits + '\001';
}

struct Version {
  const char* file;
  const char* begin_string;
};

const Version versions[] = {{"FIX42.xml", "FIX.4.2"}, {"FIX43.xml", "FIX.4.3"}, {"FIX44.xml", "FIX.4.4"}};

const std::string header = "35=D|49=A|56=B|34=2|52=20240102-03:04:05.678|";
const std::string order = header + "11=id-1|21=1|55=MSFT|54=1|60=20240102-03:04:05|38=100|40=2|44=10.25|";

void judge(const Version& version, const std::string& body) {
  const FIX::DataDictionary dictionary(path(version.file));
  const FIX::Message message(framed(version.begin_string, body), dictionary);
  dictionary.validate(message);
}

TEST(QuickFixReadsOurDictionaries, loads_every_one) {
  for (const char* file : {"FIX40.xml", "FIX41.xml", "FIX42.xml", "FIX43.xml", "FIX44.xml", "FIX50.xml", "FIX50SP1.xml",
                           "FIX50SP2.xml", "FIXT11.xml"}) {
    const FIX::DataDictionary dictionary(path(file));
    const bool transport = std::string(file) == "FIXT11.xml";
    EXPECT_TRUE(dictionary.isMsgType(transport ? "A" : "D")) << file;
  }
}

TEST(QuickFixReadsOurDictionaries, accepts_a_valid_order) {
  for (const Version& version : versions) EXPECT_NO_THROW(judge(version, order)) << version.file;
}

TEST(QuickFixReadsOurDictionaries, finds_a_missing_required_field) {
  const std::string without_side = header + "11=id-1|21=1|55=MSFT|60=20240102-03:04:05|38=100|40=2|44=10.25|";
  for (const Version& version : versions) {
    EXPECT_THROW(judge(version, without_side), FIX::RequiredTagMissing) << version.file;
  }
}

TEST(QuickFixReadsOurDictionaries, finds_a_value_outside_the_enumeration) {
  for (const Version& version : versions) {
    EXPECT_THROW(judge(version, order + "59=z|"), FIX::IncorrectTagValue) << version.file;
  }
}

TEST(QuickFixReadsOurDictionaries, finds_a_field_that_the_message_does_not_have) {
  for (const Version& version : versions) {
    EXPECT_THROW(judge(version, order + "150=0|"), FIX::TagNotDefinedForMessage) << version.file;
  }
}

TEST(QuickFixReadsOurDictionaries, finds_a_value_of_the_wrong_type) {
  for (const Version& version : versions) {
    EXPECT_THROW(judge(version, order + "110=many|"), FIX::IncorrectDataFormat) << version.file;
  }
}

TEST(QuickFixReadsOurDictionaries, finds_the_fields_inside_nested_repeating_groups) {
  const Version& fix44 = versions[2];
  const std::string parties = order + "453=2|448=firm|447=D|452=1|802=1|523=desk|803=3|448=trader|447=D|452=12|";
  EXPECT_NO_THROW(judge(fix44, parties));
  EXPECT_THROW(judge(fix44, order + "453=3|448=firm|447=D|452=1|448=trader|447=D|452=12|"),
               FIX::RepeatingGroupCountMismatch);
}

TEST(QuickFixReadsOurDictionaries, keeps_soh_inside_a_data_field) {
  for (const Version& version : versions) {
    const FIX::DataDictionary dictionary(path(version.file));
    const FIX::Message message(framed(version.begin_string, order + "354=9|355=a|58=b|cd|"), dictionary);
    EXPECT_EQ(message.getField(355), "a\00158=b\001cd") << version.file;
    EXPECT_NO_THROW(dictionary.validate(message));
  }
}

// QuickFIX's verdicts as listed next to ours in our own tests of these messages.
TEST(QuickFixDividesGroups, as_stated_for_the_comparison) {
  const Version version{"FIX44.xml", "FIX.4.4"};
  for (const nfx::interop::GroupOrder& each : nfx::interop::group_orders) {
    const std::string body = order + std::string(each.fields);
    if (each.quickfix_accepts) {
      EXPECT_NO_THROW(judge(version, body)) << each.fields;
    } else {
      EXPECT_ANY_THROW(judge(version, body)) << each.fields;
    }
  }
}

TEST(QuickFixReadsNumbers, of_any_length) {
  const std::string plain = header + "11=id-1|21=1|55=MSFT|54=1|60=20240102-03:04:05|40=2|";
  for (const nfx::interop::LongNumber& each : nfx::interop::long_numbers) {
    const std::string body = plain + std::string(each.field) + '|';
    if (each.quickfix_accepts) {
      EXPECT_NO_THROW(judge({"FIX44.xml", "FIX.4.4"}, body)) << each.field;
    } else {
      EXPECT_ANY_THROW(judge({"FIX44.xml", "FIX.4.4"}, body)) << each.field;
    }
  }
}

}  // namespace
