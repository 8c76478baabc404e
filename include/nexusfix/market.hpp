// Market data and orders on one thread: feeds, recordings and their books, models, limits, and a FIX session that
// trades. Link nexusfix::market.
#pragma once

#include "nexusfix/engine/program.hpp"
#include "nexusfix/live/itch_handler.hpp"
#include "nexusfix/live/session_trader.hpp"
#include "nexusfix/live/websocket_handler.hpp"
#include "nexusfix/market/dbn.hpp"
#include "nexusfix/market/feed_books.hpp"
#include "nexusfix/market/itch_parser.hpp"
#include "nexusfix/market/order_book.hpp"
#include "nexusfix/strategy/models.hpp"
#include "nexusfix/strategy/risk_gate.hpp"
