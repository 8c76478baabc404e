// What an order or a report says, before it becomes text: every encoder starts from these.
// Also read by code that must compile as C++14.
#pragma once

#include <cstdint>
#include <string>

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

struct OrderValues {
  std::string sender, target;
  std::uint64_t seq_num = 0;
  std::int64_t sending_time_ms = 0;  // since 1970, UTC
  std::int64_t transact_time_ms = 0;
  std::string cl_ord_id, order_id, exec_id, account, symbol;
  char side = '1', ord_type = '2', time_in_force = '0', handl_inst = '1', exec_type = 'F', ord_status = '1';
  std::int64_t order_qty = 0, last_qty = 0, leaves_qty = 0, cum_qty = 0;
  PriceValue price{}, last_px{}, avg_px{};
};

}  // namespace bench
}  // namespace nfx
