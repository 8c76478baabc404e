// Reads and writes the benchmark's messages with QuickFIX, compiled as C++14, which its headers require.
#include "wire/quickfix_peer.hpp"

#include <quickfix/DataDictionary.h>
#include <quickfix/FieldConvertors.h>
#include <quickfix/Message.h>

#include <iterator>
#include <stdexcept>
#include <vector>

namespace nfx {
namespace bench {
namespace {

namespace tag {
constexpr int account = 1, avg_px = 6, cl_ord_id = 11, cum_qty = 14, exec_id = 17, handl_inst = 21, last_px = 31;
constexpr int last_qty = 32, seq_num = 34, msg_type = 35, order_id = 37, order_qty = 38, ord_status = 39, ord_type = 40;
constexpr int price = 44, sender = 49, sending_time = 52, side = 54, symbol = 55, target = 56, time_in_force = 59;
constexpr int transact_time = 60, exec_type = 150, leaves_qty = 151, entries = 268, entry_type = 269, entry_px = 270;
constexpr int entry_size = 271, begin_string = 8;
}  // namespace tag

constexpr int milliseconds = 3;  // digits of fraction

FIX::UtcTimeStamp time_of(std::int64_t ms) {
  return FIX::UtcTimeStamp(static_cast<time_t>(ms / 1000), static_cast<int>(ms % 1000));
}

// An order's values in the types of a QuickFIX application.
struct Values {
  OrderValues plain;
  std::string cl_ord_id, account, symbol, order_id, exec_id, sender, target;
  FIX::UtcTimeStamp sending_time, transact_time;
  double order_qty, last_qty, leaves_qty, cum_qty, price, last_px, avg_px;
};

Values values_of(const OrderValues& v) {
  const auto quantity = [](std::int64_t number) { return static_cast<double>(number); };
  return {v,
          v.cl_ord_id.str(),
          v.account.str(),
          v.symbol.str(),
          v.order_id.str(),
          v.exec_id.str(),
          v.sender.str(),
          v.target.str(),
          time_of(v.sending_time_ms),
          time_of(v.transact_time_ms),
          quantity(v.order_qty),
          quantity(v.last_qty),
          quantity(v.leaves_qty),
          quantity(v.cum_qty),
          v.price.approximate(),
          v.last_px.approximate(),
          v.avg_px.approximate()};
}

void fold_one(Fold& fold, std::size_t place, ReadAs as, const std::string& text) {
  switch (as) {
    case ReadAs::text: fold.text(place, text.data(), text.size()); return;
    case ReadAs::character: fold.character(place, FIX::CharConvertor::convert(text)); return;
    case ReadAs::integer: fold.integer(place, FIX::IntConvertor::convert(text)); return;
    case ReadAs::decimal: fold.approximate(place, FIX::DoubleConvertor::convert(text)); return;
    case ReadAs::time: {
      const FIX::UtcTimeStamp time = FIX::UtcTimeStampConvertor::convert(text);
      fold.integer(place, time.getTimeT() * std::int64_t{1'000'000'000} + time.getNanosecond());
      return;
    }
  }
}

std::size_t count_fields(const FIX::FieldMap& map) {
  auto count = static_cast<std::size_t>(std::distance(map.begin(), map.end()));
  for (auto group = map.g_begin(); group != map.g_end(); ++group) {
    for (const FIX::FieldMap* entry : group->second) count += count_fields(*entry);
  }
  return count;
}

class QuickFix final : public QuickFixPeer {
 public:
  explicit QuickFix(const char* dictionary_path) : dictionary_(dictionary_path) {}

  std::uint32_t keep_message(const char* bytes, std::size_t size) override {
    messages_.emplace_back(bytes, size);
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }

  std::uint32_t keep_values(const OrderValues& values) override {
    values_.push_back(values_of(values));
    return static_cast<std::uint32_t>(values_.size() - 1);
  }

  bool parse(std::uint32_t number) noexcept override {
    try {
      parsed_.setString(messages_[number], true, &dictionary_);
      return true;
    } catch (const std::exception& error) {
      complaint_ = error.what();
      return false;
    }
  }

  bool parse_and_validate(std::uint32_t number) noexcept override {
    try {
      parsed_.setString(messages_[number], true, &dictionary_);
      dictionary_.validate(parsed_);
      return true;
    } catch (const std::exception& error) {
      complaint_ = error.what();
      return false;
    }
  }

  const char* complaint() const noexcept override { return complaint_.c_str(); }

  std::uint64_t read(const Reading (&readings)[reading_count]) noexcept override {
    Fold fold;
    try {
      for (std::size_t i = 0; i < reading_count; ++i) {
        const int number = readings[i].tag;
        const FIX::FieldMap& map =
            number == tag::seq_num ? static_cast<const FIX::FieldMap&>(parsed_.getHeader()) : parsed_;
        fold_one(fold, i, readings[i].as, map.getFieldRef(number).getString());
      }
    } catch (const std::exception& error) {
      complaint_ = error.what();
      return 0;
    }
    return fold.sum();
  }

  // Refers to each entry, because the usual getGroup() would copy it first.
  std::uint64_t read_entries() noexcept override {
    Fold fold;
    try {
      const int count = FIX::IntConvertor::convert(parsed_.getFieldRef(tag::entries).getString());
      for (int i = 0; i < count; ++i) {
        const FIX::FieldMap& entry = parsed_.getGroupRef(i + 1, tag::entries);
        const auto place = static_cast<std::size_t>(3 * i);
        fold_one(fold, place, ReadAs::character, entry.getFieldRef(tag::entry_type).getString());
        fold_one(fold, place + 1, ReadAs::decimal, entry.getFieldRef(tag::entry_px).getString());
        fold_one(fold, place + 2, ReadAs::decimal, entry.getFieldRef(tag::entry_size).getString());
      }
    } catch (const std::exception& error) {
      complaint_ = error.what();
      return 0;
    }
    return fold.sum();
  }

  std::string value_of(int number, unsigned entry) override {
    if (entry > 0) {
      if (!parsed_.FieldMap::hasGroup(static_cast<int>(entry), tag::entries)) return {};
      const FIX::FieldMap& map = parsed_.getGroupRef(static_cast<int>(entry), tag::entries);
      return map.isSetField(number) ? map.getField(number) : std::string();
    }
    for (const FIX::FieldMap* map : maps()) {
      if (map->isSetField(number)) return map->getField(number);
    }
    return {};
  }

  std::size_t field_count() override {
    std::size_t count = 0;
    for (const FIX::FieldMap* map : maps()) count += count_fields(*map);
    return count;
  }

  const std::string& encode_order(std::uint32_t number) noexcept override {
    const Values& v = values_[number];
    begin(order_, "D", v);
    set_common(order_, v);
    order_.setField(FIX::CharField(tag::handl_inst, v.plain.handl_inst));
    return order_.toString(text_);
  }

  const std::string& encode_report(std::uint32_t number) noexcept override {
    const Values& v = values_[number];
    begin(report_, "8", v);
    set_common(report_, v);
    report_.setField(FIX::StringField(tag::order_id, v.order_id));
    report_.setField(FIX::StringField(tag::exec_id, v.exec_id));
    report_.setField(FIX::CharField(tag::exec_type, v.plain.exec_type));
    report_.setField(FIX::CharField(tag::ord_status, v.plain.ord_status));
    report_.setField(FIX::DoubleField(tag::last_qty, v.last_qty));
    report_.setField(FIX::DoubleField(tag::last_px, v.last_px));
    report_.setField(FIX::DoubleField(tag::leaves_qty, v.leaves_qty));
    report_.setField(FIX::DoubleField(tag::cum_qty, v.cum_qty));
    report_.setField(FIX::DoubleField(tag::avg_px, v.avg_px));
    return report_.toString(text_);
  }

 private:
  std::vector<const FIX::FieldMap*> maps() const { return {&parsed_.getHeader(), &parsed_, &parsed_.getTrailer()}; }

  // Fields that a session sets once stay in the object; MsgSeqNum and SendingTime change with each message.
  void begin(FIX::Message& message, const char* msg_type, const Values& v) {
    FIX::Header& header = message.getHeader();
    if (!header.isSetField(tag::begin_string)) {
      header.setField(FIX::StringField(tag::begin_string, "FIX.4.4"));
      header.setField(FIX::StringField(tag::msg_type, msg_type));
      header.setField(FIX::StringField(tag::sender, v.sender));
      header.setField(FIX::StringField(tag::target, v.target));
    }
    header.setField(FIX::IntField(tag::seq_num, static_cast<int>(v.plain.seq_num)));
    header.setField(FIX::UtcTimeStampField(tag::sending_time, v.sending_time, milliseconds));
  }

  void set_common(FIX::Message& message, const Values& v) {
    message.setField(FIX::StringField(tag::cl_ord_id, v.cl_ord_id));
    message.setField(FIX::StringField(tag::account, v.account));
    message.setField(FIX::StringField(tag::symbol, v.symbol));
    message.setField(FIX::CharField(tag::side, v.plain.side));
    message.setField(FIX::UtcTimeStampField(tag::transact_time, v.transact_time, milliseconds));
    message.setField(FIX::DoubleField(tag::order_qty, v.order_qty));
    message.setField(FIX::CharField(tag::ord_type, v.plain.ord_type));
    message.setField(FIX::DoubleField(tag::price, v.price));
    message.setField(FIX::CharField(tag::time_in_force, v.plain.time_in_force));
  }

  FIX::DataDictionary dictionary_;
  std::vector<std::string> messages_;
  std::vector<Values> values_;
  FIX::Message parsed_, order_, report_;
  std::string text_;
  std::string complaint_;
};

}  // namespace

std::unique_ptr<QuickFixPeer> make_quickfix_peer(const char* dictionary_path) {
  return std::unique_ptr<QuickFixPeer>(new QuickFix(dictionary_path));
}

}  // namespace bench
}  // namespace nfx
