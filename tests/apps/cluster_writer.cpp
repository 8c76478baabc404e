// Writes messages of one session to a stream, with takeovers, for the tests of its readers:
//   cluster_writer URL CA CREDENTIALS STREAM SESSION MESSAGES TAKEOVERS
// Each takeover makes another gateway the owner; the previous one is fenced, or retires. Message N has ClOrdID N. The
// last line summarises the output: messages, frames, digest of all messages in order.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "sizing/session_owners.hpp"

namespace {

using namespace nfx;
using namespace std::chrono_literals;

std::string order(std::uint64_t number) {
  // Some messages have a Logon's secrets, one of them with a separator inside; no reader may show them.
  const std::string secret = number % 1000 == 1 ? "554=hunter2\x01"
                                                  "95=7\x01"
                                                  "96=hun\x01"
                                                  "ter\x01"
                                                : "";
  return "8=FIX.4.4\x01"
         "35=D\x01" +
         secret + "11=" + std::to_string(number) +
         "\x01"
         "55=ABC\x01"
         "54=1\x01"
         "38=100\x01"
         "40=2\x01"
         "44=12.5\x01";
}

void write(bench::SessionOwners& owners, std::uint64_t& written, std::uint64_t until) {
  // Of this owner, which has released none of what was recovered.
  const std::uint64_t first = written;
  while (written < until || owners.session(0).released < until - first) {
    while (written < until && owners.has_space(0, 256)) owners.append(0, order(++written));
    owners.poll([](std::size_t, std::uint64_t) {});
    owners.wait(5ms);
  }
}

int run(char** argument) {
  const nats::NatsOptions client{
      .url = argument[1], .credentials = argument[3], .certificate_authority = argument[2], .stream = argument[4]};
  const std::uint64_t messages = std::stoull(argument[6]), takeovers = std::stoull(argument[7]);
  std::uint64_t written = 0, frames = 0;
  nfx::cluster::OwnerOptions options;
  options.lease = 1s;
  std::unique_ptr<bench::SessionOwners> before;
  for (std::uint64_t epoch = 0; epoch <= takeovers; ++epoch) {
    // Even ones retire in order; odd ones are replaced while they own the session, as if they were killed.
    if (before != nullptr && epoch % 2 == 0) before->retire_all(60s);
    auto owners = std::make_unique<bench::SessionOwners>(client, std::vector<std::string>{argument[5]},
                                                         nfx::cluster::GatewayId{epoch + 1}, options);
    owners->own_all(120s);
    if (owners->session(0).recovered != written) {
      std::fprintf(stderr, "epoch %llu recovered %llu of %llu messages\n", static_cast<unsigned long long>(epoch + 1),
                   static_cast<unsigned long long>(owners->session(0).recovered),
                   static_cast<unsigned long long>(written));
      return 1;
    }
    write(*owners, written, messages * (epoch + 1) / (takeovers + 1));
    frames = std::to_underlying(owners->session(0).state.number);
    before = std::move(owners);
  }
  std::printf("%llu messages %llu frames digest %016llx\n", static_cast<unsigned long long>(written),
              static_cast<unsigned long long>(frames), static_cast<unsigned long long>(before->session(0).digest));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fputs("cluster_writer URL CA CREDENTIALS STREAM SESSION MESSAGES TAKEOVERS\n", stderr);
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cluster_writer: %s\n", error.what());
    return 1;
  }
}
