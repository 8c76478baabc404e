// The values of an order or a report before they become text; every encoder starts from these. Must also compile as
// C++14.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#if __cplusplus >= 201703L
#include <string_view>
#endif

namespace nfx {
namespace bench {

struct PriceValue {
  std::int64_t mantissa;
  std::uint8_t scale;  // at most 5

  double approximate() const noexcept {
    static const double powers[] = {1, 10, 100, 1000, 10000, 100000};
    return static_cast<double>(mantissa) / powers[scale];
  }
};

// At most 15 characters: cache-conscious programs keep ids and symbols inline like this.
class ShortText {
 public:
  ShortText() = default;
  explicit ShortText(const std::string& text) : size_(static_cast<unsigned char>(text.size())) {
    if (text.size() > sizeof bytes_) throw std::length_error("a text of more than 15 characters: " + text);
    std::memcpy(bytes_, text.data(), text.size());
  }
  std::string str() const { return std::string(bytes_, size_); }
#if __cplusplus >= 201703L
  std::string_view view() const noexcept { return {bytes_, size_}; }
#endif

 private:
  char bytes_[15] = {};
  unsigned char size_ = 0;
};

// Members used by all messages come first, members used only by reports last, for the same reason.
struct OrderValues {
  std::uint64_t seq_num = 0;
  std::int64_t sending_time_ms = 0;  // since 1970, UTC
  std::int64_t transact_time_ms = 0;
  std::int64_t order_qty = 0;
  PriceValue price{};
  char side = '1', ord_type = '2', time_in_force = '0', handl_inst = '1', exec_type = 'F', ord_status = '1';
  ShortText cl_ord_id, account, symbol;
  ShortText order_id, exec_id;
  std::int64_t last_qty = 0, leaves_qty = 0, cum_qty = 0;
  PriceValue last_px{}, avg_px{};
  ShortText sender, target;
};

}  // namespace bench
}  // namespace nfx
