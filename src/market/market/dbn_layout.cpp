// The tables of fields: name and kind of each in its order, with the size of a text; "+4" is four bytes that none has.
// Sizes and offsets are from Databento's documentation of DBN, versions 1 to 3.
#include "market/dbn_layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <ranges>

namespace nfx::market {
namespace {

using enum DbnFieldKind;

// In the order of the enumerators.
constexpr std::array<std::string_view, 12> kind_names{"u8",  "i8",  "u16",   "i16",  "u32",    "i32",
                                                      "u64", "i64", "price", "time", "letter", "text"};

constexpr std::string_view trade =
    "price:price size:u32 action:letter side:letter flags:u8 depth:u8 ts_recv:time ts_in_delta:i32 sequence:u32";

constexpr std::string_view mbp_1 =
    "price:price size:u32 action:letter side:letter flags:u8 depth:u8 ts_recv:time ts_in_delta:i32 sequence:u32 "
    "bid_px_00:price ask_px_00:price bid_sz_00:u32 ask_sz_00:u32 bid_ct_00:u32 ask_ct_00:u32";

constexpr std::string_view mbp_10 =
    "price:price size:u32 action:letter side:letter flags:u8 depth:u8 ts_recv:time ts_in_delta:i32 sequence:u32 "
    "bid_px_00:price ask_px_00:price bid_sz_00:u32 ask_sz_00:u32 bid_ct_00:u32 ask_ct_00:u32 bid_px_01:price "
    "ask_px_01:price bid_sz_01:u32 ask_sz_01:u32 bid_ct_01:u32 ask_ct_01:u32 bid_px_02:price ask_px_02:price "
    "bid_sz_02:u32 ask_sz_02:u32 bid_ct_02:u32 ask_ct_02:u32 bid_px_03:price ask_px_03:price bid_sz_03:u32 "
    "ask_sz_03:u32 bid_ct_03:u32 ask_ct_03:u32 bid_px_04:price ask_px_04:price bid_sz_04:u32 ask_sz_04:u32 "
    "bid_ct_04:u32 ask_ct_04:u32 bid_px_05:price ask_px_05:price bid_sz_05:u32 ask_sz_05:u32 bid_ct_05:u32 "
    "ask_ct_05:u32 bid_px_06:price ask_px_06:price bid_sz_06:u32 ask_sz_06:u32 bid_ct_06:u32 ask_ct_06:u32 "
    "bid_px_07:price ask_px_07:price bid_sz_07:u32 ask_sz_07:u32 bid_ct_07:u32 ask_ct_07:u32 bid_px_08:price "
    "ask_px_08:price bid_sz_08:u32 ask_sz_08:u32 bid_ct_08:u32 ask_ct_08:u32 bid_px_09:price ask_px_09:price "
    "bid_sz_09:u32 ask_sz_09:u32 bid_ct_09:u32 ask_ct_09:u32";

constexpr std::string_view bbo =
    "price:price size:u32 +1 side:letter flags:u8 +1 ts_recv:time +4 sequence:u32 bid_px_00:price ask_px_00:price "
    "bid_sz_00:u32 ask_sz_00:u32 bid_ct_00:u32 ask_ct_00:u32";

constexpr std::string_view cmbp_1 =
    "price:price size:u32 action:letter side:letter flags:u8 +1 ts_recv:time ts_in_delta:i32 +4 bid_px_00:price "
    "ask_px_00:price bid_sz_00:u32 ask_sz_00:u32 bid_pb_00:u16 +2 ask_pb_00:u16";

constexpr std::string_view cbbo =
    "price:price size:u32 +1 side:letter flags:u8 +1 ts_recv:time +8 bid_px_00:price ask_px_00:price bid_sz_00:u32 "
    "ask_sz_00:u32 bid_pb_00:u16 +2 ask_pb_00:u16";

constexpr std::string_view ohlcv = "open:price high:price low:price close:price volume:u64";

constexpr std::string_view status =
    "ts_recv:time action:u16 reason:u16 trading_event:u16 is_trading:letter is_quoting:letter "
    "is_short_sell_restricted:letter";

constexpr std::string_view imbalance =
    "ts_recv:time ref_price:price auction_time:time cont_book_clr_price:price auct_interest_clr_price:price "
    "ssr_filling_price:price ind_match_price:price upper_collar:price lower_collar:price paired_qty:u32 "
    "total_imbalance_qty:u32 market_imbalance_qty:u32 unpaired_qty:u32 auction_type:letter side:letter "
    "auction_status:u8 freeze_status:u8 num_extensions:u8 unpaired_side:letter significant_imbalance:letter";

constexpr std::string_view statistic_v1 =
    "ts_recv:time ts_ref:time price:price quantity:i32 sequence:u32 ts_in_delta:i32 stat_type:u16 channel_id:u16 "
    "update_action:u8 stat_flags:u8";

constexpr std::string_view statistic =
    "ts_recv:time ts_ref:time price:price quantity:i64 sequence:u32 ts_in_delta:i32 stat_type:u16 channel_id:u16 "
    "update_action:u8 stat_flags:u8";

constexpr std::string_view definition_v1 =
    "ts_recv:time min_price_increment:price display_factor:price expiration:time activation:time "
    "high_limit_price:price low_limit_price:price max_price_variation:price trading_reference_price:price "
    "unit_of_measure_qty:price min_price_increment_amount:price price_ratio:price inst_attrib_value:i32 "
    "underlying_id:u32 raw_instrument_id:u32 market_depth_implied:i32 market_depth:i32 market_segment_id:u32 "
    "max_trade_vol:u32 min_lot_size:i32 min_lot_size_block:i32 min_lot_size_round_lot:i32 min_trade_vol:u32 +4 "
    "contract_multiplier:i32 decay_quantity:i32 original_contract_size:i32 +4 trading_reference_date:u16 "
    "appl_id:i16 maturity_year:u16 decay_start_date:u16 channel_id:u16 currency:text4 settl_currency:text4 "
    "secsubtype:text6 raw_symbol:text22 group:text21 exchange:text5 asset:text7 cfi:text7 security_type:text7 "
    "unit_of_measure:text31 underlying:text21 strike_price_currency:text4 instrument_class:letter +2 "
    "strike_price:price +6 match_algorithm:letter md_security_trading_status:u8 main_fraction:u8 "
    "price_display_format:u8 settl_price_type:u8 sub_fraction:u8 underlying_product:u8 "
    "security_update_action:letter maturity_month:u8 maturity_day:u8 maturity_week:u8 "
    "user_defined_instrument:letter contract_multiplier_unit:i8 flow_schedule_type:i8 tick_rule:u8";

constexpr std::string_view definition_v2 =
    "ts_recv:time min_price_increment:price display_factor:price expiration:time activation:time "
    "high_limit_price:price low_limit_price:price max_price_variation:price trading_reference_price:price "
    "unit_of_measure_qty:price min_price_increment_amount:price price_ratio:price strike_price:price "
    "inst_attrib_value:i32 underlying_id:u32 raw_instrument_id:u32 market_depth_implied:i32 market_depth:i32 "
    "market_segment_id:u32 max_trade_vol:u32 min_lot_size:i32 min_lot_size_block:i32 min_lot_size_round_lot:i32 "
    "min_trade_vol:u32 contract_multiplier:i32 decay_quantity:i32 original_contract_size:i32 "
    "trading_reference_date:u16 appl_id:i16 maturity_year:u16 decay_start_date:u16 channel_id:u16 currency:text4 "
    "settl_currency:text4 secsubtype:text6 raw_symbol:text71 group:text21 exchange:text5 asset:text7 cfi:text7 "
    "security_type:text7 unit_of_measure:text31 underlying:text21 strike_price_currency:text4 "
    "instrument_class:letter match_algorithm:letter md_security_trading_status:u8 main_fraction:u8 "
    "price_display_format:u8 settl_price_type:u8 sub_fraction:u8 underlying_product:u8 "
    "security_update_action:letter maturity_month:u8 maturity_day:u8 maturity_week:u8 "
    "user_defined_instrument:letter contract_multiplier_unit:i8 flow_schedule_type:i8 tick_rule:u8";

constexpr std::string_view definition =
    "ts_recv:time min_price_increment:price display_factor:price expiration:time activation:time "
    "high_limit_price:price low_limit_price:price max_price_variation:price unit_of_measure_qty:price "
    "min_price_increment_amount:price price_ratio:price strike_price:price raw_instrument_id:u64 leg_price:price "
    "leg_delta:price inst_attrib_value:i32 underlying_id:u32 market_depth_implied:i32 market_depth:i32 "
    "market_segment_id:u32 max_trade_vol:u32 min_lot_size:i32 min_lot_size_block:i32 min_lot_size_round_lot:i32 "
    "min_trade_vol:u32 contract_multiplier:i32 decay_quantity:i32 original_contract_size:i32 leg_instrument_id:u32 "
    "leg_ratio_price_numerator:i32 leg_ratio_price_denominator:i32 leg_ratio_qty_numerator:i32 "
    "leg_ratio_qty_denominator:i32 leg_underlying_id:u32 appl_id:i16 maturity_year:u16 decay_start_date:u16 "
    "channel_id:u16 leg_count:u16 leg_index:u16 currency:text4 settl_currency:text4 secsubtype:text6 "
    "raw_symbol:text71 group:text21 exchange:text5 asset:text11 cfi:text7 security_type:text7 "
    "unit_of_measure:text31 underlying:text21 strike_price_currency:text4 leg_raw_symbol:text71 "
    "instrument_class:letter match_algorithm:letter main_fraction:u8 price_display_format:u8 sub_fraction:u8 "
    "underlying_product:u8 security_update_action:letter maturity_month:u8 maturity_day:u8 maturity_week:u8 "
    "user_defined_instrument:letter contract_multiplier_unit:i8 flow_schedule_type:i8 tick_rule:u8 "
    "leg_instrument_class:letter leg_side:letter";

constexpr std::string_view mapping_v1 = "stype_in_symbol:text22 stype_out_symbol:text22 +4 start_ts:time end_ts:time";

constexpr std::string_view mapping =
    "stype_in:u8 stype_in_symbol:text71 stype_out:u8 stype_out_symbol:text71 start_ts:time end_ts:time";

constexpr std::string_view error_v1 = "err:text64";

constexpr std::string_view error = "err:text302 code:u8 is_last:u8";

constexpr std::string_view system_v1 = "msg:text64";

constexpr std::string_view system = "msg:text303 code:u8";

// The fields of one of these texts.
template <const std::string_view& Text>
constexpr auto fields = [] {
  std::array<DbnField, std::ranges::count(Text, ':')> out;
  std::uint16_t offset = 16;  // behind the header
  std::size_t at = 0;
  for (const auto part : Text | std::views::split(' ')) {
    const std::string_view word{part};
    const auto number_behind = [word](std::size_t begin) {
      std::uint16_t number = 0;
      for (const char c : word.substr(begin)) number = static_cast<std::uint16_t>(10 * number + (c - '0'));
      return number;
    };
    if (word.starts_with('+')) {
      offset = static_cast<std::uint16_t>(offset + number_behind(1));
      continue;
    }
    DbnField& field = out[at++];
    const std::size_t colon = word.find(':');
    const std::string_view kind = word.substr(colon + 1);
    field.name = word.substr(0, colon);
    field.offset = offset;
    const auto named =
        std::ranges::find_if(kind_names, [kind](std::string_view name) { return kind.starts_with(name); });
    field.kind = static_cast<DbnFieldKind>(named - kind_names.begin());
    if (field.kind == text) field.text_size = number_behind(colon + 1 + std::string_view{"text"}.size());
    offset = static_cast<std::uint16_t>(offset + field.size());
  }
  return out;
}();

constexpr std::array layouts{
    DbnLayout{0x00, 48, fields<trade>},
    DbnLayout{0x01, 80, fields<mbp_1>},
    DbnLayout{0xC5, 80, fields<mbp_1>},
    DbnLayout{0x0A, 368, fields<mbp_10>},
    DbnLayout{0xC3, 80, fields<bbo>},
    DbnLayout{0xC4, 80, fields<bbo>},
    DbnLayout{0xB1, 80, fields<cmbp_1>},
    DbnLayout{0xC2, 80, fields<cmbp_1>},
    DbnLayout{0xC0, 80, fields<cbbo>},
    DbnLayout{0xC1, 80, fields<cbbo>},
    DbnLayout{0x11, 56, fields<ohlcv>},
    DbnLayout{0x20, 56, fields<ohlcv>},
    DbnLayout{0x21, 56, fields<ohlcv>},
    DbnLayout{0x22, 56, fields<ohlcv>},
    DbnLayout{0x23, 56, fields<ohlcv>},
    DbnLayout{0x24, 56, fields<ohlcv>},
    DbnLayout{0x12, 40, fields<status>},
    DbnLayout{0x14, 112, fields<imbalance>},
    DbnLayout{0x18, 64, fields<statistic_v1>},
    DbnLayout{0x18, 80, fields<statistic>},
    DbnLayout{0x13, 360, fields<definition_v1>},
    DbnLayout{0x13, 400, fields<definition_v2>},
    DbnLayout{0x13, 520, fields<definition>},
    DbnLayout{0x16, 80, fields<mapping_v1>},
    DbnLayout{0x16, 176, fields<mapping>},
    DbnLayout{0x15, 80, fields<error_v1>},
    DbnLayout{0x15, 320, fields<error>},
    DbnLayout{0x17, 80, fields<system_v1>},
    DbnLayout{0x17, 320, fields<system>},
};

static_assert(
    [] {
      for (const DbnLayout& layout : layouts) {
        std::size_t end = 16;  // of the header
        for (const DbnField& field : layout.fields) {
          if (field.offset < end || field.size() == 0) return false;
          end = field.offset + field.size();
        }
        if (end > layout.size || layout.size % 4 != 0) return false;
      }
      return true;
    }(),
    "fields follow one another within their record");

template <class Number>
std::int64_t load_at(const std::byte* from) noexcept {
  Number number;
  std::memcpy(&number, from, sizeof number);
  if constexpr (std::endian::native == std::endian::big && sizeof(Number) > 1) number = std::byteswap(number);
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::span<const DbnLayout> dbn_layouts() noexcept { return layouts; }

const DbnLayout* find_dbn_layout(std::span<const std::byte> record) noexcept {
  constexpr std::size_t header_size = 16, send_time_size = 8;
  if (record.size() < header_size) return nullptr;
  const auto type = std::to_integer<std::uint8_t>(record[1]);
  for (const std::size_t size : {record.size(), record.size() - send_time_size}) {
    for (const DbnLayout& layout : layouts) {
      if (layout.type == type && layout.size == size) return &layout;
    }
  }
  return nullptr;
}

const DbnField* find_field(const DbnLayout& layout, std::string_view name) noexcept {
  const auto found = std::ranges::find(layout.fields, name, &DbnField::name);
  return found == layout.fields.end() ? nullptr : &*found;
}

std::int64_t number_in(std::span<const std::byte> record, const DbnField& field) noexcept {
  const std::byte* const at = record.data() + field.offset;
  switch (field.kind) {
    case u8:
    case letter: return load_at<std::uint8_t>(at);
    case i8: return load_at<std::int8_t>(at);
    case u16: return load_at<std::uint16_t>(at);
    case i16: return load_at<std::int16_t>(at);
    case u32: return load_at<std::uint32_t>(at);
    case i32: return load_at<std::int32_t>(at);
    case u64:
    case i64:
    case price:
    case time: return load_at<std::int64_t>(at);
    case text: break;
  }
  return 0;
}

std::string_view text_in(std::span<const std::byte> record, const DbnField& field) noexcept {
  const std::string_view whole{reinterpret_cast<const char*>(record.data()) + field.offset, field.size()};
  return whole.substr(0, whole.find('\0'));
}

bool is_none(std::int64_t number, DbnFieldKind kind) noexcept {
  if (kind == price) return number == std::numeric_limits<std::int64_t>::max();
  return kind == time && number == -1;
}

}  // namespace nfx::market
