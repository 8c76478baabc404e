// Benchmark messages made from a seed: the same bytes on every machine, all different, with the sizes and variety of a
// real session. Built and checked by plain code that is independent of the measured code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/order_values.hpp"

namespace nfx::bench {

inline constexpr std::uint32_t corpus_messages = 2048;
inline constexpr unsigned market_data_entries = 10;

enum class Kind : std::uint8_t {
  heartbeat,
  new_order_single,
  execution_report,
  market_data,  // MarketDataIncrementalRefresh with ten entries
};

[[nodiscard]] std::string_view to_string(Kind kind) noexcept;

struct Corpus {
  Kind kind{};
  std::string bytes;                   // one message after the other
  std::vector<std::uint32_t> offsets;  // one more than the number of messages
  std::vector<OrderValues> values;     // for orders and reports; empty otherwise

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(offsets.size() - 1); }
  [[nodiscard]] std::string_view operator[](std::uint32_t i) const noexcept {
    return {bytes.data() + offsets[i], offsets[i + 1] - offsets[i]};
  }
  [[nodiscard]] double mean_size() const noexcept { return static_cast<double>(bytes.size()) / size(); }
};

[[nodiscard]] Corpus make_corpus(Kind kind, std::uint64_t seed, std::uint32_t messages = corpus_messages);

// Empty if every message is well-formed and differs from all others; otherwise the problem and the message.
[[nodiscard]] std::string what_is_wrong_with(const Corpus& corpus);

[[nodiscard]] std::uint64_t digest(std::string_view bytes) noexcept;

// The order of the session's header fields: venues differ, and NexusFIX's encoder sorts them by tag.
enum class HeaderOrder : std::uint8_t { comp_ids_first, by_tag };

[[nodiscard]] std::string plain_new_order(const OrderValues& values, HeaderOrder order);
[[nodiscard]] std::string plain_report(const OrderValues& values, HeaderOrder order);

}  // namespace nfx::bench
