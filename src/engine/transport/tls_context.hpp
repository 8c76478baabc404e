// Shared by TLS connections: loaded certificates and keys, and the requirements for the peer.
// Thread: any; reload() replaces the loaded files while other threads open connections. Open connections keep their
// own. Cost: reads files and allocates; a new connection takes one reference. Errors: one line that names the file and
// the fix: TlsError from the constructor, a value from reload().
#pragma once

#include <expected>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nexusfix/transport/socket_options.hpp"

namespace nfx {

struct TlsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {
struct TlsMaterial;  // src/engine/transport/tls_material.hpp
}

class TlsContext {
 public:
  // Loads everything. Throws TlsError.
  explicit TlsContext(TlsOptions options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // Loads the files again, for connections that begin from now on. On failure nothing changes, and the text gives the
  // reason.
  [[nodiscard]] std::expected<void, std::string> reload();

  // Why a listener cannot use this context; empty if it can.
  [[nodiscard]] std::string why_no_server() const;

  [[nodiscard]] const TlsOptions& options() const noexcept { return options_; }

  // The material for a connection that begins now.
  [[nodiscard]] std::shared_ptr<const detail::TlsMaterial> material() const;

 private:
  TlsOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const detail::TlsMaterial> material_;
};

// Problems that peers trusting the same authorities would find in our own certificate, one line each; none without a
// certificate. `as_server`: whether a server or a client uses it.
[[nodiscard]] std::vector<std::string> verify_own_chain(const TlsContext& context, bool as_server);

// Whether our certificate is valid for this host name or address.
[[nodiscard]] bool certificate_is_for(const TlsContext& context, const std::string& host);

}  // namespace nfx
