// The tables of fields. Sizes and offsets are from Databento's documentation of DBN, versions 1 to 3.
#include "market/dbn_layout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace nfx::market {
namespace {

using enum DbnFieldKind;

constexpr DbnField trade_fields[]{
    {"price", price, 16}, {"size", u32, 24},     {"action", letter, 28},   {"side", letter, 29},  {"flags", u8, 30},
    {"depth", u8, 31},    {"ts_recv", time, 32}, {"ts_in_delta", i32, 40}, {"sequence", u32, 44},
};

constexpr DbnField mbp_1_fields[]{
    {"price", price, 16},   {"size", u32, 24},        {"action", letter, 28},   {"side", letter, 29},
    {"flags", u8, 30},      {"depth", u8, 31},        {"ts_recv", time, 32},    {"ts_in_delta", i32, 40},
    {"sequence", u32, 44},  {"bid_px_00", price, 48}, {"ask_px_00", price, 56}, {"bid_sz_00", u32, 64},
    {"ask_sz_00", u32, 68}, {"bid_ct_00", u32, 72},   {"ask_ct_00", u32, 76},
};

constexpr DbnField mbp_10_fields[]{
    {"price", price, 16},      {"size", u32, 24},         {"action", letter, 28},    {"side", letter, 29},
    {"flags", u8, 30},         {"depth", u8, 31},         {"ts_recv", time, 32},     {"ts_in_delta", i32, 40},
    {"sequence", u32, 44},     {"bid_px_00", price, 48},  {"ask_px_00", price, 56},  {"bid_sz_00", u32, 64},
    {"ask_sz_00", u32, 68},    {"bid_ct_00", u32, 72},    {"ask_ct_00", u32, 76},    {"bid_px_01", price, 80},
    {"ask_px_01", price, 88},  {"bid_sz_01", u32, 96},    {"ask_sz_01", u32, 100},   {"bid_ct_01", u32, 104},
    {"ask_ct_01", u32, 108},   {"bid_px_02", price, 112}, {"ask_px_02", price, 120}, {"bid_sz_02", u32, 128},
    {"ask_sz_02", u32, 132},   {"bid_ct_02", u32, 136},   {"ask_ct_02", u32, 140},   {"bid_px_03", price, 144},
    {"ask_px_03", price, 152}, {"bid_sz_03", u32, 160},   {"ask_sz_03", u32, 164},   {"bid_ct_03", u32, 168},
    {"ask_ct_03", u32, 172},   {"bid_px_04", price, 176}, {"ask_px_04", price, 184}, {"bid_sz_04", u32, 192},
    {"ask_sz_04", u32, 196},   {"bid_ct_04", u32, 200},   {"ask_ct_04", u32, 204},   {"bid_px_05", price, 208},
    {"ask_px_05", price, 216}, {"bid_sz_05", u32, 224},   {"ask_sz_05", u32, 228},   {"bid_ct_05", u32, 232},
    {"ask_ct_05", u32, 236},   {"bid_px_06", price, 240}, {"ask_px_06", price, 248}, {"bid_sz_06", u32, 256},
    {"ask_sz_06", u32, 260},   {"bid_ct_06", u32, 264},   {"ask_ct_06", u32, 268},   {"bid_px_07", price, 272},
    {"ask_px_07", price, 280}, {"bid_sz_07", u32, 288},   {"ask_sz_07", u32, 292},   {"bid_ct_07", u32, 296},
    {"ask_ct_07", u32, 300},   {"bid_px_08", price, 304}, {"ask_px_08", price, 312}, {"bid_sz_08", u32, 320},
    {"ask_sz_08", u32, 324},   {"bid_ct_08", u32, 328},   {"ask_ct_08", u32, 332},   {"bid_px_09", price, 336},
    {"ask_px_09", price, 344}, {"bid_sz_09", u32, 352},   {"ask_sz_09", u32, 356},   {"bid_ct_09", u32, 360},
    {"ask_ct_09", u32, 364},
};

constexpr DbnField bbo_fields[]{
    {"price", price, 16},   {"size", u32, 24},      {"side", letter, 29},     {"flags", u8, 30},
    {"ts_recv", time, 32},  {"sequence", u32, 44},  {"bid_px_00", price, 48}, {"ask_px_00", price, 56},
    {"bid_sz_00", u32, 64}, {"ask_sz_00", u32, 68}, {"bid_ct_00", u32, 72},   {"ask_ct_00", u32, 76},
};

constexpr DbnField cmbp_1_fields[]{
    {"price", price, 16},     {"size", u32, 24},      {"action", letter, 28},   {"side", letter, 29},
    {"flags", u8, 30},        {"ts_recv", time, 32},  {"ts_in_delta", i32, 40}, {"bid_px_00", price, 48},
    {"ask_px_00", price, 56}, {"bid_sz_00", u32, 64}, {"ask_sz_00", u32, 68},   {"bid_pb_00", u16, 72},
    {"ask_pb_00", u16, 76},
};

constexpr DbnField cbbo_fields[]{
    {"price", price, 16},   {"size", u32, 24},        {"side", letter, 29},     {"flags", u8, 30},
    {"ts_recv", time, 32},  {"bid_px_00", price, 48}, {"ask_px_00", price, 56}, {"bid_sz_00", u32, 64},
    {"ask_sz_00", u32, 68}, {"bid_pb_00", u16, 72},   {"ask_pb_00", u16, 76},
};

constexpr DbnField ohlcv_fields[]{
    {"open", price, 16}, {"high", price, 24}, {"low", price, 32}, {"close", price, 40}, {"volume", u64, 48},
};

constexpr DbnField status_fields[]{
    {"ts_recv", time, 16},
    {"action", u16, 24},
    {"reason", u16, 26},
    {"trading_event", u16, 28},
    {"is_trading", letter, 30},
    {"is_quoting", letter, 31},
    {"is_short_sell_restricted", letter, 32},
};

constexpr DbnField imbalance_fields[]{
    {"ts_recv", time, 16},
    {"ref_price", price, 24},
    {"auction_time", time, 32},
    {"cont_book_clr_price", price, 40},
    {"auct_interest_clr_price", price, 48},
    {"ssr_filling_price", price, 56},
    {"ind_match_price", price, 64},
    {"upper_collar", price, 72},
    {"lower_collar", price, 80},
    {"paired_qty", u32, 88},
    {"total_imbalance_qty", u32, 92},
    {"market_imbalance_qty", u32, 96},
    {"unpaired_qty", u32, 100},
    {"auction_type", letter, 104},
    {"side", letter, 105},
    {"auction_status", u8, 106},
    {"freeze_status", u8, 107},
    {"num_extensions", u8, 108},
    {"unpaired_side", letter, 109},
    {"significant_imbalance", letter, 110},
};

constexpr DbnField statistic_v1_fields[]{
    {"ts_recv", time, 16},     {"ts_ref", time, 24},     {"price", price, 32},   {"quantity", i32, 40},
    {"sequence", u32, 44},     {"ts_in_delta", i32, 48}, {"stat_type", u16, 52}, {"channel_id", u16, 54},
    {"update_action", u8, 56}, {"stat_flags", u8, 57},
};

constexpr DbnField statistic_fields[]{
    {"ts_recv", time, 16},     {"ts_ref", time, 24},     {"price", price, 32},   {"quantity", i64, 40},
    {"sequence", u32, 48},     {"ts_in_delta", i32, 52}, {"stat_type", u16, 56}, {"channel_id", u16, 58},
    {"update_action", u8, 60}, {"stat_flags", u8, 61},
};

constexpr DbnField definition_v1_fields[]{
    {"ts_recv", time, 16},
    {"min_price_increment", price, 24},
    {"display_factor", price, 32},
    {"expiration", time, 40},
    {"activation", time, 48},
    {"high_limit_price", price, 56},
    {"low_limit_price", price, 64},
    {"max_price_variation", price, 72},
    {"trading_reference_price", price, 80},
    {"unit_of_measure_qty", price, 88},
    {"min_price_increment_amount", price, 96},
    {"price_ratio", price, 104},
    {"inst_attrib_value", i32, 112},
    {"underlying_id", u32, 116},
    {"raw_instrument_id", u32, 120},
    {"market_depth_implied", i32, 124},
    {"market_depth", i32, 128},
    {"market_segment_id", u32, 132},
    {"max_trade_vol", u32, 136},
    {"min_lot_size", i32, 140},
    {"min_lot_size_block", i32, 144},
    {"min_lot_size_round_lot", i32, 148},
    {"min_trade_vol", u32, 152},
    {"contract_multiplier", i32, 160},
    {"decay_quantity", i32, 164},
    {"original_contract_size", i32, 168},
    {"trading_reference_date", u16, 176},
    {"appl_id", i16, 178},
    {"maturity_year", u16, 180},
    {"decay_start_date", u16, 182},
    {"channel_id", u16, 184},
    {"currency", text, 186, 4},
    {"settl_currency", text, 190, 4},
    {"secsubtype", text, 194, 6},
    {"raw_symbol", text, 200, 22},
    {"group", text, 222, 21},
    {"exchange", text, 243, 5},
    {"asset", text, 248, 7},
    {"cfi", text, 255, 7},
    {"security_type", text, 262, 7},
    {"unit_of_measure", text, 269, 31},
    {"underlying", text, 300, 21},
    {"strike_price_currency", text, 321, 4},
    {"instrument_class", letter, 325},
    {"strike_price", price, 328},
    {"match_algorithm", letter, 342},
    {"md_security_trading_status", u8, 343},
    {"main_fraction", u8, 344},
    {"price_display_format", u8, 345},
    {"settl_price_type", u8, 346},
    {"sub_fraction", u8, 347},
    {"underlying_product", u8, 348},
    {"security_update_action", letter, 349},
    {"maturity_month", u8, 350},
    {"maturity_day", u8, 351},
    {"maturity_week", u8, 352},
    {"user_defined_instrument", letter, 353},
    {"contract_multiplier_unit", i8, 354},
    {"flow_schedule_type", i8, 355},
    {"tick_rule", u8, 356},
};

constexpr DbnField definition_v2_fields[]{
    {"ts_recv", time, 16},
    {"min_price_increment", price, 24},
    {"display_factor", price, 32},
    {"expiration", time, 40},
    {"activation", time, 48},
    {"high_limit_price", price, 56},
    {"low_limit_price", price, 64},
    {"max_price_variation", price, 72},
    {"trading_reference_price", price, 80},
    {"unit_of_measure_qty", price, 88},
    {"min_price_increment_amount", price, 96},
    {"price_ratio", price, 104},
    {"strike_price", price, 112},
    {"inst_attrib_value", i32, 120},
    {"underlying_id", u32, 124},
    {"raw_instrument_id", u32, 128},
    {"market_depth_implied", i32, 132},
    {"market_depth", i32, 136},
    {"market_segment_id", u32, 140},
    {"max_trade_vol", u32, 144},
    {"min_lot_size", i32, 148},
    {"min_lot_size_block", i32, 152},
    {"min_lot_size_round_lot", i32, 156},
    {"min_trade_vol", u32, 160},
    {"contract_multiplier", i32, 164},
    {"decay_quantity", i32, 168},
    {"original_contract_size", i32, 172},
    {"trading_reference_date", u16, 176},
    {"appl_id", i16, 178},
    {"maturity_year", u16, 180},
    {"decay_start_date", u16, 182},
    {"channel_id", u16, 184},
    {"currency", text, 186, 4},
    {"settl_currency", text, 190, 4},
    {"secsubtype", text, 194, 6},
    {"raw_symbol", text, 200, 71},
    {"group", text, 271, 21},
    {"exchange", text, 292, 5},
    {"asset", text, 297, 7},
    {"cfi", text, 304, 7},
    {"security_type", text, 311, 7},
    {"unit_of_measure", text, 318, 31},
    {"underlying", text, 349, 21},
    {"strike_price_currency", text, 370, 4},
    {"instrument_class", letter, 374},
    {"match_algorithm", letter, 375},
    {"md_security_trading_status", u8, 376},
    {"main_fraction", u8, 377},
    {"price_display_format", u8, 378},
    {"settl_price_type", u8, 379},
    {"sub_fraction", u8, 380},
    {"underlying_product", u8, 381},
    {"security_update_action", letter, 382},
    {"maturity_month", u8, 383},
    {"maturity_day", u8, 384},
    {"maturity_week", u8, 385},
    {"user_defined_instrument", letter, 386},
    {"contract_multiplier_unit", i8, 387},
    {"flow_schedule_type", i8, 388},
    {"tick_rule", u8, 389},
};

constexpr DbnField definition_fields[]{
    {"ts_recv", time, 16},
    {"min_price_increment", price, 24},
    {"display_factor", price, 32},
    {"expiration", time, 40},
    {"activation", time, 48},
    {"high_limit_price", price, 56},
    {"low_limit_price", price, 64},
    {"max_price_variation", price, 72},
    {"unit_of_measure_qty", price, 80},
    {"min_price_increment_amount", price, 88},
    {"price_ratio", price, 96},
    {"strike_price", price, 104},
    {"raw_instrument_id", u64, 112},
    {"leg_price", price, 120},
    {"leg_delta", price, 128},
    {"inst_attrib_value", i32, 136},
    {"underlying_id", u32, 140},
    {"market_depth_implied", i32, 144},
    {"market_depth", i32, 148},
    {"market_segment_id", u32, 152},
    {"max_trade_vol", u32, 156},
    {"min_lot_size", i32, 160},
    {"min_lot_size_block", i32, 164},
    {"min_lot_size_round_lot", i32, 168},
    {"min_trade_vol", u32, 172},
    {"contract_multiplier", i32, 176},
    {"decay_quantity", i32, 180},
    {"original_contract_size", i32, 184},
    {"leg_instrument_id", u32, 188},
    {"leg_ratio_price_numerator", i32, 192},
    {"leg_ratio_price_denominator", i32, 196},
    {"leg_ratio_qty_numerator", i32, 200},
    {"leg_ratio_qty_denominator", i32, 204},
    {"leg_underlying_id", u32, 208},
    {"appl_id", i16, 212},
    {"maturity_year", u16, 214},
    {"decay_start_date", u16, 216},
    {"channel_id", u16, 218},
    {"leg_count", u16, 220},
    {"leg_index", u16, 222},
    {"currency", text, 224, 4},
    {"settl_currency", text, 228, 4},
    {"secsubtype", text, 232, 6},
    {"raw_symbol", text, 238, 71},
    {"group", text, 309, 21},
    {"exchange", text, 330, 5},
    {"asset", text, 335, 11},
    {"cfi", text, 346, 7},
    {"security_type", text, 353, 7},
    {"unit_of_measure", text, 360, 31},
    {"underlying", text, 391, 21},
    {"strike_price_currency", text, 412, 4},
    {"leg_raw_symbol", text, 416, 71},
    {"instrument_class", letter, 487},
    {"match_algorithm", letter, 488},
    {"main_fraction", u8, 489},
    {"price_display_format", u8, 490},
    {"sub_fraction", u8, 491},
    {"underlying_product", u8, 492},
    {"security_update_action", letter, 493},
    {"maturity_month", u8, 494},
    {"maturity_day", u8, 495},
    {"maturity_week", u8, 496},
    {"user_defined_instrument", letter, 497},
    {"contract_multiplier_unit", i8, 498},
    {"flow_schedule_type", i8, 499},
    {"tick_rule", u8, 500},
    {"leg_instrument_class", letter, 501},
    {"leg_side", letter, 502},
};

constexpr DbnField mapping_v1_fields[]{
    {"stype_in_symbol", text, 16, 22},
    {"stype_out_symbol", text, 38, 22},
    {"start_ts", time, 64},
    {"end_ts", time, 72},
};

constexpr DbnField mapping_fields[]{
    {"stype_in", u8, 16},    {"stype_in_symbol", text, 17, 71},
    {"stype_out", u8, 88},   {"stype_out_symbol", text, 89, 71},
    {"start_ts", time, 160}, {"end_ts", time, 168},
};

constexpr DbnField error_v1_fields[]{
    {"err", text, 16, 64},
};

constexpr DbnField error_fields[]{
    {"err", text, 16, 302},
    {"code", u8, 318},
    {"is_last", u8, 319},
};

constexpr DbnField system_v1_fields[]{
    {"msg", text, 16, 64},
};

constexpr DbnField system_fields[]{
    {"msg", text, 16, 303},
    {"code", u8, 319},
};

constexpr std::array layouts{
    DbnLayout{0x00, 48, trade_fields},
    DbnLayout{0x01, 80, mbp_1_fields},
    DbnLayout{0xC5, 80, mbp_1_fields},
    DbnLayout{0x0A, 368, mbp_10_fields},
    DbnLayout{0xC3, 80, bbo_fields},
    DbnLayout{0xC4, 80, bbo_fields},
    DbnLayout{0xB1, 80, cmbp_1_fields},
    DbnLayout{0xC2, 80, cmbp_1_fields},
    DbnLayout{0xC0, 80, cbbo_fields},
    DbnLayout{0xC1, 80, cbbo_fields},
    DbnLayout{0x11, 56, ohlcv_fields},
    DbnLayout{0x20, 56, ohlcv_fields},
    DbnLayout{0x21, 56, ohlcv_fields},
    DbnLayout{0x22, 56, ohlcv_fields},
    DbnLayout{0x23, 56, ohlcv_fields},
    DbnLayout{0x24, 56, ohlcv_fields},
    DbnLayout{0x12, 40, status_fields},
    DbnLayout{0x14, 112, imbalance_fields},
    DbnLayout{0x18, 64, statistic_v1_fields},
    DbnLayout{0x18, 80, statistic_fields},
    DbnLayout{0x13, 360, definition_v1_fields},
    DbnLayout{0x13, 400, definition_v2_fields},
    DbnLayout{0x13, 520, definition_fields},
    DbnLayout{0x16, 80, mapping_v1_fields},
    DbnLayout{0x16, 176, mapping_fields},
    DbnLayout{0x15, 80, error_v1_fields},
    DbnLayout{0x15, 320, error_fields},
    DbnLayout{0x17, 80, system_v1_fields},
    DbnLayout{0x17, 320, system_fields},
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
