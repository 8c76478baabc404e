// Receives every change of the demonstration venue's order books: its market data.
// Thread: the venue's. Errors: its functions do not throw. Lifetime: it outlives the venue.
#pragma once

#include <cstdint>

#include "demo/book.hpp"
#include "nexusfix/base/time.hpp"
#include "nexusfix/engine/application.hpp"

namespace nfx::app::demo {

// A resting order, or the traded part of one.
struct BookChange {
  std::uint32_t order = 0;
  std::uint32_t symbol = 0;
  std::uint32_t price_ticks = 0;
  std::uint32_t quantity = 0;
  Side side = Side::buy;
  UtcTime at{};
};

class BookListener {
 public:
  virtual ~BookListener() = default;
  virtual void added(const BookChange& change) = 0;    // last in the queue of its price
  virtual void reduced(const BookChange& change) = 0;  // to this quantity, without losing its place
  virtual void removed(const BookChange& change) = 0;
  virtual void traded(const BookChange& change) = 0;  // side: the aggressor's
  // All changes of a request have been reported.
  virtual void done() = 0;
  // A message that is not about orders. False if the listener does not handle it either.
  virtual bool on_message(SessionHandle& session, const MessageView& message) = 0;
  virtual void on_logout(SessionHandle& session) = 0;
};

}  // namespace nfx::app::demo
