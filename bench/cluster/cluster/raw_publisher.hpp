// Publishes bytes to subjects of a stream with libnats alone, each conditional on the subject's last sequence, and
// counts the acknowledgements: the comparison for an owner of sessions.
// Thread: one; libnats has its own. Cost: a publish; one lock for each acknowledgement. Errors: std::runtime_error if
// the servers cannot be reached, or refuse a publish repeatedly.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nats/nats_stream.hpp"

namespace nfx::bench {

class RawPublisher {
 public:
  // The subjects must not be in the stream yet.
  RawPublisher(const nats::NatsOptions& options, const std::vector<std::string>& subjects);
  ~RawPublisher();
  RawPublisher(const RawPublisher&) = delete;
  RawPublisher& operator=(const RawPublisher&) = delete;

  // One publish per subject is in flight. The bytes must stay valid until it is acknowledged.
  void publish(std::size_t subject, std::string_view bytes);
  // The subjects whose publishes were acknowledged since the last call; waits for one, at most for this time.
  [[nodiscard]] const std::vector<std::size_t>& take_acknowledged(Duration most);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx::bench
