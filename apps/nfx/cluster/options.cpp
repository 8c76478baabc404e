// The options that name the servers and the stream.
#include "cluster/options.hpp"

#include <utility>

#include "output.hpp"

namespace nfx::app::cluster_tools {

Duration seconds_of(double seconds) { return Duration{static_cast<std::int64_t>(seconds * 1e9)}; }

nats::NatsOptions nats_options(const StreamOptions& options) {
  return {.url = options.url,
          .credentials = options.credentials,
          .certificate_authority = options.certificate_authority,
          .stream = options.stream,
          .timeout = seconds_of(options.timeout_s)};
}

nats::NatsStream open_stream(const StreamOptions& options) {
  nats::NatsOptions chosen = nats_options(options);
  if (const std::string plain = nats::plain_servers(chosen); !plain.empty())
    print_error(
        "nfx: warning: without TLS to {}: others on the network can read and change the messages; write tls:// before "
        "the "
        "address and name --ca\n",
        plain);
  return nats::NatsStream{std::move(chosen)};
}

std::vector<cli::Option> options_of(StreamOptions& options) {
  return {{.names = "--url", .target = &options.url, .help = "Servers, separated by commas", .value = "URL"},
          {.names = "--stream", .target = &options.stream, .help = "Stream name", .value = "NAME"},
          {.names = "--credentials",
           .target = &options.credentials,
           .help = "File with the user's credentials",
           .value = "FILE",
           .kind = cli::Kind::existing_file},
          {.names = "--ca",
           .target = &options.certificate_authority,
           .help = "Certificate authorities that sign the servers' certificates; turns TLS on",
           .value = "FILE",
           .kind = cli::Kind::existing_file},
          {.names = "--timeout",
           .target = &options.timeout_s,
           .help = "Longest wait for an answer",
           .value = "SECONDS",
           .range = cli::Range{0.1, 600}}};
}

}  // namespace nfx::app::cluster_tools
