// The stores that a session can have. To add one, write its row here, its header into session_store.hpp, and how it is
// opened into src/engine/engine/session_stores.cpp, where the compiler reports the missing case. The value of `store`,
// its help, its documentation and what a SessionStore holds are made from the rows. Thread: values.
#pragma once

#include <cstdint>

#include "nexusfix/base/language.hpp"

// The name, the class, which meets MessageStore, and for the help of the key what it is.
#define NFX_STORES(row)                                                 \
  row(memory, MemoryMessageStore, "only as long as the process runs. ") \
      row(journal, JournalStore, "in files, so that they survive the process. ")

namespace nfx {

// Where sent messages and sequence numbers of a session are stored.
#define NFX_STORE_KIND(name, type, help) name,
enum class StoreKind : std::uint8_t {
  unset,  // memory; `nfx serve` makes it journal
  NFX_STORES(NFX_STORE_KIND)
};
#undef NFX_STORE_KIND

}  // namespace nfx
