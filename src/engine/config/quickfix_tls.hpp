// Translates the TLS keys of the QuickFIX engines to NexusFIX settings. SocketUseSSL=Y or SSLEnable=Y turns TLS on. So
// does any other TLS key in the file, because QuickFIX itself has no switch. SocketUseSSL=N or SSLEnable=N turns it
// off.
#pragma once

#include <vector>

#include "config/quickfix_session.hpp"

namespace nfx::quickfix {

// True if the file turns TLS off.
[[nodiscard]] bool tls_is_off(const EntryLookup& find) noexcept;

// Throws ConfigError through `common`.
[[nodiscard]] std::vector<Setting> translate_tls(Translation& common, const EntryLookup& find, bool initiator);

}  // namespace nfx::quickfix
