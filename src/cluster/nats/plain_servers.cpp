// Which servers are connected to without encryption. Needs no libnats.
#include <algorithm>
#include <string>
#include <string_view>

#include "nats/nats_stream.hpp"

namespace nfx::nats {
namespace {

bool is_this_host(std::string_view host) {
  constexpr std::string_view numbers = "0123456789.";
  const bool is_number = host.find_first_not_of(numbers) == std::string_view::npos;
  return host == "localhost" || (is_number && host.starts_with("127.")) || host == "[::1]" || host == "::1";
}

}  // namespace

std::string plain_servers(const NatsOptions& options) {
  std::string found;
  if (!options.certificate_authority.empty()) return found;
  for (std::string_view rest = options.url; !rest.empty();) {
    std::string_view url = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(url.size() + 1, rest.size()));
    const std::size_t scheme = url.find("://");
    if (url.starts_with("tls://")) continue;
    if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
    if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
    const std::string_view host =
        url.starts_with('[') ? url.substr(0, url.find(']') + 1) : url.substr(0, url.find(':'));
    if (!is_this_host(host)) found += (found.empty() ? "" : ", ") + std::string{url};
  }
  return found;
}

}  // namespace nfx::nats
