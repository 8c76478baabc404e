// QuickFIX from the distribution's package, with an interface that compiles as C++14, which its headers require, and as
// C++23.
// Thread: one owner. Lifetime: messages and values are copied in, before anything is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "wire/order_values.hpp"
#include "wire/readings.hpp"

namespace nfx {
namespace bench {

class QuickFixPeer {
 public:
  QuickFixPeer() = default;
  QuickFixPeer(const QuickFixPeer&) = delete;
  QuickFixPeer& operator=(const QuickFixPeer&) = delete;
  virtual ~QuickFixPeer() = default;

  // Copies a message, or an order's values, and returns its number.
  virtual std::uint32_t keep_message(const char* bytes, std::size_t size) = 0;
  virtual std::uint32_t keep_values(const OrderValues& values) = 0;

  // Parses into the one message object, which is reused: verifies BodyLength and CheckSum, and finds groups by the
  // dictionary. False if QuickFIX rejects it.
  virtual bool parse(std::uint32_t number) noexcept = 0;
  // parse() plus validation by the dictionary: required fields, types, enumerations.
  virtual bool parse_and_validate(std::uint32_t number) noexcept = 0;
  virtual const char* complaint() const noexcept = 0;

  // Typed reads of the last parsed message, through QuickFIX's own convertors: its prices are doubles.
  virtual std::uint64_t read(const Reading (&readings)[reading_count]) noexcept = 0;
  virtual std::uint64_t read_entries() noexcept = 0;

  // For checks: a value of the message or of one of its entries (from 1), and the number of fields.
  virtual std::string value_of(int tag, unsigned entry) = 0;
  virtual std::size_t field_count() = 0;

  // Builds a message in a reused object: sets typed fields and the header fields that change, then writes its text.
  virtual const std::string& encode_order(std::uint32_t number) noexcept = 0;
  virtual const std::string& encode_report(std::uint32_t number) noexcept = 0;
};

// Null if the benchmark was built without QuickFIX. Throws std::runtime_error if the dictionary cannot be loaded.
std::unique_ptr<QuickFixPeer> make_quickfix_peer(const char* dictionary_path);

}  // namespace bench
}  // namespace nfx
