// Publishes bytes to subjects of a stream by libnats alone, each on the condition of the subject's last sequence, and
// counts the acknowledgements: what an owner of sessions is compared with.
// Thread: one; libnats has its own. Cost: a publish; one lock for each acknowledgement. Errors: std::runtime_error when
// the servers cannot be reached, or refuse a publish again and again.
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
  // Of these subjects, which are not in the stream yet.
  RawPublisher(const nats::NatsOptions& options, const std::vector<std::string>& subjects);
  ~RawPublisher();
  RawPublisher(const RawPublisher&) = delete;
  RawPublisher& operator=(const RawPublisher&) = delete;

  // One publish of each subject is in flight. The bytes stay until it is acknowledged.
  void publish(std::size_t subject, std::string_view bytes);
  // The subjects whose publishes were acknowledged since the last call; waits for one, or for this time.
  [[nodiscard]] const std::vector<std::size_t>& take_acknowledged(Duration most);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nfx::bench
