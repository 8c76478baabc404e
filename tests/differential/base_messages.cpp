// The valid messages from which the differential fuzzer starts: usual ones, and unusual ones that kernels must handle.
#include "differential/base_messages.hpp"

#include <iterator>
#include <string>
#include <vector>

#include "differential/message_generator.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::test {
namespace {

constexpr char soh = '\x01';

struct LengthTag {
  std::int32_t length;
  std::int32_t data;
};

constexpr std::int32_t highest_length_tag = 43'111;

// All of them, in order. Built at program start, because 43,000 look-ups are too many for some compilers.
std::vector<LengthTag> make_length_tags() {
  std::vector<LengthTag> tags;
  for (std::int32_t tag = 1; tag <= highest_length_tag; ++tag) {
    if (data_tag_of(Tag{tag}) != Tag{0}) tags.push_back({tag, nfx::value(data_tag_of(Tag{tag}))});
  }
  return tags;
}

const std::vector<LengthTag> length_tags = make_length_tags();

std::string with_soh(std::string_view text) {
  std::string result{text};
  for (char& c : result) c = c == '|' ? soh : c;
  return result;
}

std::string with_check_sum(std::string message) {
  unsigned sum = 0;
  for (const char c : message) sum += static_cast<unsigned char>(c);
  const std::string text = std::to_string(sum % 256);
  return message.append("10=").append(3 - text.size(), '0').append(text).append(1, soh);
}

}  // namespace

std::string BaseMessages::value(std::size_t size) {
  static constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:- =";
  std::string text(size, ' ');
  for (char& c : text) c = characters[random_.below(characters.size())];
  return text;
}

std::string BaseMessages::number(std::uint32_t digits) {
  std::string text(1, static_cast<char>('1' + random_.below(9)));
  while (text.size() < digits) text += static_cast<char>('0' + random_.below(10));
  return text;
}

std::string BaseMessages::header(std::string_view type) {
  std::string text = with_soh("8=FIX.4.4|9=") + number(1 + random_.below(4)) + with_soh("|35=");
  text.append(type).append(with_soh("|49=")).append(value(1 + random_.below(12)));
  text.append(with_soh("|56=")).append(value(1 + random_.below(12)));
  text.append(with_soh("|34=")).append(number(1 + random_.below(7)));
  return text.append(with_soh("|52=20240315-12:00:01.123456|"));
}

std::string BaseMessages::tiny_fields(std::uint32_t count) {
  std::string text;
  for (; count > 0; --count) {
    text += number(random_.one_in(4) ? 2 : 1) + '=';
    if (!random_.one_in(40)) text += static_cast<char>('a' + random_.below(26));
    text += soh;
  }
  return text;
}

std::string BaseMessages::data_field(bool right) {
  static constexpr std::string_view characters = "\x01==1x|\xFF\x01";
  const LengthTag tag = length_tags[random_.below(length_tags.size())];
  std::string data(random_.below(random_.one_in(4) ? 150 : 20), ' ');
  const bool plain = random_.one_in(2);
  for (char& c : data) c = plain ? 'd' : characters[random_.below(characters.size())];
  std::string length = std::to_string(data.size());
  if (!right) {
    switch (random_.below(6)) {
      case 0: length = std::to_string(data.size() + 1); break;
      case 1: length = std::to_string(random_.below(200)); break;
      case 2: length = number(1 + random_.below(20)); break;
      case 3: length += 'x'; break;
      case 4: length.clear(); break;
      default: length.insert(0, "-"); break;
    }
  } else if (random_.one_in(8)) {
    length.insert(0, 1 + random_.below(20), '0');
  }
  std::string text = std::string(random_.one_in(16) ? 1 + random_.below(4) : 0, '0') + std::to_string(tag.length);
  text.append(1, '=').append(length).append(1, soh);
  // A length field alone, or before another field, has no meaning.
  if (random_.one_in(16)) return text + with_soh("58=no data|");
  return text.append(std::to_string(tag.data)).append(1, '=').append(data).append(1, soh);
}

std::string BaseMessages::field_with_long_tag(bool beyond_narrow) {
  std::string tag;
  if (beyond_narrow) {
    static constexpr std::string_view limits[] = {"65536",      "65537",      "99999",       "2147483647",
                                                  "2147483648", "0000065536", "-2147483648", "-2147483649",
                                                  "-1",         "4294967297"};
    tag = random_.one_in(2) ? std::string{limits[random_.below(std::size(limits))]} : number(6 + random_.below(6));
  } else if (random_.one_in(3)) {
    tag = std::string(4 + random_.below(3), '0') + number(1 + random_.below(4));
  } else {
    static constexpr std::string_view limits[] = {"9999", "10000", "25500", "25755", "25756", "65534", "65535"};
    tag = random_.one_in(2) ? std::string{limits[random_.below(std::size(limits))]}
                            : std::to_string(10000 + random_.below(55536));
  }
  return tag.append(1, '=').append(value(random_.below(30))).append(1, soh);
}

std::string BaseMessages::field_without_value() {
  static constexpr std::string_view fields[] = {"58=", "5=", "=a", "=", "", "10001=", "354=", "no field", "58", "1=="};
  return std::string{fields[random_.below(std::size(fields))]} + soh;
}

std::string BaseMessages::order() {
  std::string text = header("D") + with_soh("11=") + value(1 + random_.below(36)) + with_soh("|55=MSFT|54=1|38=");
  text += number(1 + random_.below(8)) + with_soh("|40=2|44=") + number(1 + random_.below(4)) + ".25" + soh;
  static constexpr std::string_view optional[] = {"59=0|",         "60=20240315-12:00:01|",
                                                  "1=ACCOUNT|",    "15=USD|",
                                                  "207=XNAS|",     "5001=vendor|",
                                                  "1385=1|",       "453=1|",
                                                  "448=A|",        "447=D|",
                                                  "452=1|",        "18=M|",
                                                  "126=x|",        "528=A|",
                                                  "20001=custom|", "58=a=b|"};
  for (const std::string_view field : optional) {
    if (random_.one_in(3)) text += with_soh(field);
  }
  return text;
}

std::string BaseMessages::market_data(std::uint32_t entries) {
  std::string text = header("W") + with_soh("55=EUR/USD|268=") + std::to_string(entries) + soh;
  for (; entries > 0; --entries) {
    text += with_soh("269=") + static_cast<char>('0' + random_.below(3)) + with_soh("|270=1.") + number(5);
    text += with_soh("|271=") + number(1 + random_.below(8)) + soh;
    if (random_.one_in(3)) text += with_soh("290=") + std::to_string(entries) + with_soh("|346=2|");
  }
  return text;
}

std::string BaseMessages::long_values() {
  std::string text = header("B");
  for (auto n = 1 + random_.below(3); n > 0; --n)
    text += with_soh("58=") + value(random_.below(random_.one_in(3) ? 700 : 150)) + soh;
  return text;
}

std::string BaseMessages::any() {
  std::string text;
  switch (random_.below(11)) {
    case 0: text = header("0"); break;
    case 1:
    case 2: text = order(); break;
    case 3: text = market_data(1 + random_.below(random_.one_in(8) ? 100 : 12)); break;
    case 4: text = header("B") + data_field(true) + (random_.one_in(2) ? data_field(true) : order()); break;
    case 5: text = header("B") + data_field(!random_.one_in(4)) + tiny_fields(random_.below(10)); break;
    case 6: text = tiny_fields(1 + random_.below(random_.one_in(4) ? 120 : 30)); break;
    case 7:
      text = random_.one_in(2) ? header("D") : std::string{};
      for (auto n = 1 + random_.below(6); n > 0; --n) text += field_with_long_tag(random_.one_in(12));
      break;
    case 8: text = long_values(); break;
    case 9:  // any small size, so that every length of a last block occurs
      text = with_soh("8=FIX.4.4|58=") + value(random_.below(200)) + soh;
      break;
    default: text = order() + field_without_value(); break;
  }
  return with_check_sum(text);
}

std::string BaseMessages::of_size(std::size_t size) {
  std::string text = market_data(static_cast<std::uint32_t>(size / 20));
  text.resize(text.rfind(soh, size - 10) + 1);
  text += "58=";
  text.append(size - text.size() - 1, 'v');
  return text + soh;
}

}  // namespace nfx::test
