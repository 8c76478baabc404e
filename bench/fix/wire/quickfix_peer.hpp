// QuickFIX from the distribution's package, with an interface that compiles as C++14 and as C++23: its own headers need
// the former. Thread: one owner. Lifetime: messages and values are copied in, before anything is timed.
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

  // Copies a message or an order's values in, and numbers it.
  virtual std::uint32_t keep_message(const char* bytes, std::size_t size) = 0;
  virtual std::uint32_t keep_values(const OrderValues& values) = 0;

  // Reads a message into the one message object, which is reused: BodyLength and CheckSum verified, groups found by the
  // dictionary. False when QuickFIX refuses it.
  virtual bool parse(std::uint32_t number) noexcept = 0;
  // parse(), and validation by the dictionary: required fields, types, enumerations.
  virtual bool parse_and_validate(std::uint32_t number) noexcept = 0;
  virtual const char* complaint() const noexcept = 0;

  // Typed reads of the message parsed last, through QuickFIX's own convertors: its prices are doubles.
  virtual std::uint64_t read(const Reading (&readings)[reading_count]) noexcept = 0;
  virtual std::uint64_t read_entries() noexcept = 0;

  // For checking: a value, of the message or of one of its entries (from 1); and the number of fields.
  virtual std::string value_of(int tag, unsigned entry) = 0;
  virtual std::size_t field_count() = 0;

  // Builds a message in an object that is reused: typed fields set, header fields that change set, then its text.
  virtual const std::string& encode_order(std::uint32_t number) noexcept = 0;
  virtual const std::string& encode_report(std::uint32_t number) noexcept = 0;
};

// Null when the benchmark was built without QuickFIX. Throws std::runtime_error when the dictionary cannot be loaded.
std::unique_ptr<QuickFixPeer> make_quickfix_peer(const char* dictionary_path);

}  // namespace bench
}  // namespace nfx
