// Any use of a message's typed interface, with any output size: a finished message parses, reads back equal, and is
// valid if all required fields are set; otherwise the draft has no bytes and gives the reason.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fix44/new_order_single.hpp"
#include "fuzz_target.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/dictionary/validator.hpp"
#include "nexusfix/session/session.hpp"
#include "nexusfix/session/session_config.hpp"
#include "nexusfix/wire/encoder.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 100000, .max_input_size = 4096};

namespace {

using nfx::Tag;
using nfx::fuzz::require;
namespace fix44 = nfx::fix44;
using Builder = fix44::NewOrderSingleBuilder<nfx::FieldWriter&>;

// Consumes the input.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool done() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
  }
  std::string_view text() {
    const std::size_t size = byte() % 40;
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

// The expected message, computed by simple means.
struct Expected {
  std::vector<std::pair<Tag, std::string>> fields;
  std::vector<Tag> set;  // set by a setter of the message
  bool wrong = false;

  void setter(Tag tag) {
    wrong = wrong || std::ranges::find(set, tag) != set.end();
    set.push_back(tag);
  }
  void by_setter(Tag tag, std::string_view value) {
    if (!value.empty()) setter(tag);
    text(tag, value);
  }
  void text(Tag tag, std::string_view value) {
    if (value.empty()) return;  // omitted
    wrong = wrong || value.contains('\x01');
    fields.emplace_back(tag, value);
  }
  [[nodiscard]] bool has(Tag tag) const {
    for (const auto& [each, value] : fields) {
      if (each == tag) return true;
    }
    return false;
  }
};

constexpr nfx::UtcTime noon{std::chrono::seconds{1710504000}};

void set_one(Choices& in, Builder& order, Expected& expected) {
  switch (in.byte() % 9) {
    case 0: {
      const std::string_view id = in.text();
      order.cl_ord_id(id);
      return expected.by_setter(Tag::ClOrdID, id);
    }
    case 1: {
      const std::string_view account = in.text();
      order.account(account);
      return expected.by_setter(Tag::Account, account);
    }
    case 2: {
      const bool buy = in.byte() % 2 == 0;
      order.side(buy ? fix44::Side::buy : fix44::Side::sell);
      return expected.by_setter(Tag::Side, buy ? "1" : "2");
    }
    case 3: {
      const nfx::Decimal price{static_cast<std::int64_t>(in.byte()) * 256 + in.byte() - 32768,
                               static_cast<std::uint8_t>(in.byte() % 10)};
      order.price(price);
      char text[nfx::Decimal::max_text_size];
      return expected.by_setter(Tag::Price, {text, price.write(text)});
    }
    case 4: order.transact_time(noon); return expected.by_setter(Tag::TransactTime, "20240315-12:00:00.000");
    case 5: order.ord_type(fix44::OrdType::market); return expected.by_setter(Tag::OrdType, "1");
    case 6: {
      const std::string_view data = in.text();
      order.encoded_text(data);
      if (data.empty()) return;  // left out
      expected.setter(Tag::EncodedText);
      expected.fields.emplace_back(Tag::EncodedTextLen, std::to_string(data.size()));
      expected.fields.emplace_back(Tag::EncodedText, data);
      return;
    }
    case 7: {
      // A group that may have too few or too many entries.
      const std::uint32_t announced = in.byte() % 3, added = in.byte() % 8 == 0 ? announced + 1 : announced;
      auto parties = order.no_party_ids(announced);
      if (announced != 0) expected.by_setter(Tag::NoPartyIDs, std::to_string(announced));
      for (std::uint32_t i = 0; i < added; ++i) {
        const std::string_view party = in.text();
        auto entry = parties.add().party_id(party);
        expected.text(Tag::PartyID, party);
        expected.wrong = expected.wrong || party.empty();
        if (in.byte() % 4 == 0) {
          entry.party_role(fix44::PartyRole::client_id);
          expected.text(Tag::PartyRole, "3");
        }
      }
      expected.wrong = expected.wrong || added != announced;
      return;
    }
    default: {
      const std::string_view text = in.text();
      order.fields().append(Tag::Text, text);
      if (text.empty()) expected.wrong = true;
      return expected.text(Tag::Text, text);
    }
  }
}

void check_message(std::string_view bytes, const Expected& expected) {
  static nfx::MessageView view{4096};  // more fields than an input can have
  require(view.parse(bytes) == nfx::WireError::none, "what is finished parses", bytes);
  constexpr std::uint32_t header = 7;  // 8 9 35 34 49 52 56
  require(view.size() == header + expected.fields.size() + 1, "every field is there", bytes);
  bool twice = false;
  for (std::uint32_t i = 0; i < expected.fields.size(); ++i) {
    const auto& [tag, value] = expected.fields[i];
    require(view.tag_at(header + i) == tag && view.value_at(header + i) == value, "it reads back equal", bytes);
    for (std::uint32_t k = 0; k < i; ++k)
      twice = twice || (expected.fields[k].first == tag && tag != Tag::PartyID && tag != Tag::PartyRole);
  }
  const bool complete = !fix44::NewOrderSingle{view}.missing();
  require(complete == (expected.has(Tag::ClOrdID) && expected.has(Tag::Side) && expected.has(Tag::TransactTime) &&
                       expected.has(Tag::OrdType)),
          "missing() finds what is missing", bytes);
  if (!complete || twice) return;
  static const nfx::Dictionary dictionary = nfx::load_dictionary("FIX44.xml");
  nfx::ValidationReport report;
  const auto violation = validate(view, dictionary, nfx::ValidationPolicy::strict(), report);
  require(!violation, "it is valid", bytes);
}

nfx::SessionConfig session() {
  nfx::SessionConfig config;
  config.begin_string = "FIX.4.4";
  config.sender_comp_id = "A";
  config.target_comp_id = "B";
  return config;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices in{nfx::fuzz::text_of(data, size)};
  static const nfx::SessionConfig config = session();
  nfx::Composer composer{config};
  const std::size_t room = in.byte() % 2 == 0 ? 4 * in.byte() : 65536;
  std::vector<char> output(room);
  nfx::Encoder encoder;
  composer.begin(encoder, "D", nfx::SeqNum{in.byte() + 1U}, {}, {}, noon, output);
  Builder order{encoder.fields()};
  Expected expected;
  while (!in.done()) set_one(in, order, expected);
  const bool ok = order.ok();
  const nfx::WriteFault fault = encoder.fields().fault();
  const std::string_view bytes = ok ? encoder.finish_in() : std::string_view{};
  if (ok) {
    require(!expected.wrong, "a wrong field is not finished", bytes);
    require(bytes.data() == output.data() && bytes.size() <= room, "it begins where the output does", bytes);
    check_message(bytes, expected);
  } else {
    require(expected.wrong || (fault.error == nfx::WriteError::no_space && room < 65536),
            "what is right is refused for want of space only", to_string(fault));
    require(encoder.fields().ok() || encoder.finish_in().empty(), "a failed writer has no message", "");
  }
  return 0;
}
