// The TLS keys of the QuickFIX engines as NexusFIX settings. TLS is on with SocketUseSSL=Y or SSLEnable=Y, and when the
// file has any key of TLS, as QuickFIX itself has no switch; SocketUseSSL=N or SSLEnable=N turn it off.
#pragma once

#include <vector>

#include "config/quickfix_session.hpp"

namespace nfx::quickfix {

// True when the file turns TLS off.
[[nodiscard]] bool tls_is_off(const EntryLookup& find) noexcept;

// Throws ConfigError through `common`.
[[nodiscard]] std::vector<Setting> translate_tls(Translation& common, const EntryLookup& find, bool initiator);

}  // namespace nfx::quickfix
