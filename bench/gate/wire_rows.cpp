// parse: MessageView::parse. index: only its kernel. encode: a report from its values, header template and typed tags.
#include <array>

#include "gate/gate_rows.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "wire/kernels/kernels.hpp"
#include "wire/plain_reading.hpp"
#include "wire/report_encoder.hpp"

namespace nfx::bench {
namespace {

constexpr std::uint32_t block = 32;

// Half orders, half reports.
class WireRow : public GateRow {
 public:
  explicit WireRow(const GateInputs& inputs) {
    for (std::uint32_t i = 0; i < gate_messages / 2; ++i) messages_.emplace_back(inputs.orders[i]);
    for (std::uint32_t i = 0; i < gate_messages / 2; ++i) messages_.emplace_back(inputs.reports[i]);
    for (const std::string_view message : messages_) plain_.push_back(read_plainly(message).value());
  }
  void prepare() override { dealt_ = deal_.next(block); }
  void reference() override {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : dealt_) sum += reference_by_bytes(messages_[i], copy_);
    keep(sum);
  }

 protected:
  std::vector<std::string_view> messages_;
  std::vector<PlainMessage> plain_;
  Order dealt_;
  std::uint64_t fields_ = 0;  // found in the block
  std::array<char, 1024> copy_{};

  void verify_fields() const {
    std::uint64_t fields = 0;
    for (const std::uint32_t i : dealt_) fields += plain_[i].size();
    wrong_unless(fields == fields_, "the number of fields differs from the plain reading");
  }

 private:
  Deal deal_{gate_messages};
};

class ParseRow final : public WireRow {
 public:
  using WireRow::WireRow;
  void check() override {
    for (std::uint32_t i = 0; i < gate_messages; ++i) {
      wrong_unless(view_.parse(messages_[i]) == WireError::none && view_.size() == plain_[i].size(), "parse");
      for (std::uint32_t k = 0; k < view_.size(); ++k) {
        const Field field = view_[k];
        wrong_unless(value(field.tag) == plain_[i][k].tag && field.value == plain_[i][k].text, "a field of parse");
      }
    }
  }
  void work() override {
    std::uint64_t fields = 0;
    for (const std::uint32_t i : dealt_) {
      if (view_.parse(messages_[i]) == WireError::none) fields += view_.size();
    }
    fields_ = fields;
  }
  void verify() override { verify_fields(); }

 private:
  MessageView view_;
};

class IndexRow final : public WireRow {
 public:
  using WireRow::WireRow;
  void check() override {
    for (std::uint32_t i = 0; i < gate_messages; ++i) {
      const kernels::IndexResult result = index(messages_[i]);
      wrong_unless(result.error == WireError::none && result.count == plain_[i].size(), "index");
      for (std::uint32_t k = 0; k < result.count; ++k) {
        const std::string_view text = messages_[i].substr(begins_[k], std::size_t{ends_[k]} - begins_[k]);
        wrong_unless(tags_[k] == plain_[i][k].tag && text == plain_[i][k].text, "a field of index");
      }
    }
  }
  void work() override {
    std::uint64_t fields = 0;
    for (const std::uint32_t i : dealt_) fields += index(messages_[i]).count;
    fields_ = fields;
  }
  void verify() override { verify_fields(); }

 private:
  static constexpr std::uint32_t capacity = 256;
  using Array = std::array<std::uint16_t, capacity + kernels::array_padding>;

  kernels::IndexResult index(std::string_view message) noexcept {
    return kernels::kernels().index_fields(message.data(), message.size(),
                                           {tags_.data(), begins_.data(), ends_.data(), capacity});
  }
  alignas(64) Array tags_{};
  alignas(64) Array begins_{};
  alignas(64) Array ends_{};
};

class EncodeRow final : public GateRow {
 public:
  explicit EncodeRow(const GateInputs& inputs)
      : values_(inputs.reports.values),
        header_({.begin_string = "FIX.4.4",
                 .sender_comp_id = values_.front().sender.view(),
                 .target_comp_id = values_.front().target.view()}) {
    for (const OrderValues& values : values_) expected_.push_back(plain_report(values, HeaderOrder::by_tag));
  }
  void check() override {
    for (std::uint32_t i = 0; i < gate_messages; ++i) wrong_unless(encode(values_[i]) == expected_[i], "encode");
  }
  void prepare() override { dealt_ = deal_.next(block); }
  void work() override {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : dealt_) sum += fold_of(encode(values_[i]));
    sum_ = sum;
  }
  void verify() override {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : dealt_) sum += fold_of(expected_[i]);
    wrong_unless(sum == sum_, "an encoded message differs while timed");
  }
  void reference() override {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : dealt_) sum += reference_by_bytes(expected_[i], copy_);
    keep(sum);
  }

 private:
  std::string_view encode(const OrderValues& v) noexcept { return encode_report(encoder_, header_, v); }

  const std::vector<OrderValues>& values_;
  std::vector<std::string> expected_;
  std::array<char, 1024> bytes_{};
  Encoder encoder_{bytes_};
  HeaderTemplate header_;
  Deal deal_{gate_messages};
  Order dealt_;
  std::uint64_t sum_ = 0;
  std::array<char, 1024> copy_{};
};

}  // namespace

std::vector<GateEntry> wire_gate_entries() {
  const char* const bytes = "copy and byte-wise hash of the same messages";
  const std::uint32_t all = gate_messages / block;
  return {{"parse", 1, "MessageView::parse of one order or report", bytes, block, all, make_row<ParseRow>},
          {"index", 1, "the index kernel alone, on one order or report", bytes, block, all, make_row<IndexRow>},
          {"encode", 1, "one report from its values", bytes, block, all, make_row<EncodeRow>}};
}

}  // namespace nfx::bench
