// A message that a peer received, with its own bytes.
// Thread: values. Lifetime: copies share the bytes, and views of them live as long as one copy does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "nexusfix/base/tag.hpp"
#include "nexusfix/wire/message_view.hpp"

namespace nfx::testing {

class Received {
 public:
  // Throws TestError for bytes that are no FIX message.
  explicit Received(std::string bytes);

  [[nodiscard]] const MessageView& view() const noexcept { return parts_->view; }
  [[nodiscard]] std::string_view bytes() const noexcept { return parts_->bytes; }
  [[nodiscard]] std::string_view msg_type() const noexcept { return view().msg_type(); }
  // The value of the first field with this tag; empty when there is none.
  [[nodiscard]] std::string_view operator[](Tag tag) const noexcept { return view().get_view(tag); }
  [[nodiscard]] std::string_view operator[](int tag) const noexcept { return view().get_view(Tag{tag}); }
  // With '|' for SOH, for the output of a test. Secrets are masked.
  [[nodiscard]] std::string text() const;

 private:
  struct Parts {
    std::string bytes;
    MessageView view;
  };
  std::shared_ptr<const Parts> parts_;
};

namespace detail {
struct KeptMessage {
  Received message;
};
}  // namespace detail

// The same with the getters of a message that `nfx codegen` writes.
template <typename Reader>
class TypedReceived : private detail::KeptMessage, public Reader {
 public:
  explicit TypedReceived(Received received)
      : detail::KeptMessage{std::move(received)}, Reader(detail::KeptMessage::message.view()) {}
  [[nodiscard]] const Received& received() const noexcept { return detail::KeptMessage::message; }
};

}  // namespace nfx::testing
