// Plain publishes with a reply subject, and a subscription for the replies.
#include "cluster/raw_publisher.hpp"

#include <nats/nats.h>

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace nfx::bench {
namespace {

void require(natsStatus status, const char* what) {
  if (status != NATS_OK) throw std::runtime_error(std::string{what} + ": " + natsStatus_GetText(status));
}

// The servers refuse a valid publish while they still handle the previous one; an owner also sends it again.
constexpr int refused_max = 100;

std::uint64_t number_after(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  std::uint64_t number = 0;
  if (at != std::string_view::npos)
    static_cast<void>(std::from_chars(text.data() + at + before.size(), text.data() + text.size(), number));
  return number;
}

}  // namespace

struct RawPublisher::Parts {
  natsConnection* connection = nullptr;
  natsSubscription* replies = nullptr;
  std::string inbox;
  std::vector<std::string> subjects;
  std::vector<std::string> reply_subjects;
  std::vector<std::uint64_t> last;               // last sequence of each subject
  std::vector<std::string_view> unacknowledged;  // pending bytes of each subject
  int refused = 0;
  std::mutex mutex;  // protects the members that libnats' thread writes
  std::condition_variable changed;
  struct Reply {
    std::size_t subject = 0;
    std::uint64_t sequence = 0;  // 0: refused
    std::string text;
  };
  std::vector<Reply> arrived, taken;
  std::vector<std::size_t> acknowledged;
  bool is_ended = false;

  static void on_reply(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    Parts& parts = *static_cast<Parts*>(closure);
    const std::string_view text{natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
    const std::string_view subject = natsMsg_GetSubject(message);
    Reply reply{.subject = number_after(subject.substr(parts.inbox.size()), "."),
                .sequence = text.contains("\"error\"") ? 0 : number_after(text, "\"seq\":"),
                .text = std::string{text}};
    natsMsg_Destroy(message);
    const std::scoped_lock lock{parts.mutex};
    parts.arrived.push_back(std::move(reply));
    parts.changed.notify_all();
  }
  static void on_end(void* closure) {
    Parts& parts = *static_cast<Parts*>(closure);
    const std::scoped_lock lock{parts.mutex};
    parts.is_ended = true;
    parts.changed.notify_all();
  }
};

RawPublisher::RawPublisher(const nats::NatsOptions& options, const std::vector<std::string>& subjects)
    : parts_(std::make_unique<Parts>()) {
  Parts& parts = *parts_;
  natsOptions* chosen = nullptr;
  require(natsOptions_Create(&chosen), "libnats");
  std::vector<std::string> urls;
  for (std::string_view rest = options.url; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    urls.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<const char*> pointers;
  for (const std::string& url : urls) pointers.push_back(url.c_str());
  require(natsOptions_SetServers(chosen, pointers.data(), static_cast<int>(pointers.size())), "servers");
  require(natsOptions_SetSendAsap(chosen, true), "libnats");
  if (!options.certificate_authority.empty()) {
    require(natsOptions_SetSecure(chosen, true), "TLS");
    require(natsOptions_LoadCATrustedCertificates(chosen, options.certificate_authority.c_str()), "the authority");
  }
  if (!options.credentials.empty())
    require(natsOptions_SetUserCredentialsFromFiles(chosen, options.credentials.c_str(), nullptr), "credentials");
  const natsStatus connected = natsConnection_Connect(&parts.connection, chosen);
  natsOptions_Destroy(chosen);
  require(connected, "connect");
  natsInbox* inbox = nullptr;
  require(natsInbox_Create(&inbox), "libnats");
  parts.inbox = inbox;
  natsInbox_Destroy(inbox);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    parts.subjects.push_back(options.stream + ".s." + subjects[i]);
    parts.reply_subjects.push_back(parts.inbox + "." + std::to_string(i));
  }
  parts.last.resize(subjects.size());
  parts.unacknowledged.resize(subjects.size());
  require(
      natsConnection_Subscribe(&parts.replies, parts.connection, (parts.inbox + ".*").c_str(), Parts::on_reply, &parts),
      "subscribe");
  require(natsSubscription_SetOnCompleteCB(parts.replies, Parts::on_end, &parts), "libnats");
}

RawPublisher::~RawPublisher() {
  natsSubscription_Destroy(parts_->replies);
  {
    std::unique_lock lock{parts_->mutex};
    parts_->changed.wait(lock, [this] { return parts_->is_ended; });
  }
  natsConnection_Destroy(parts_->connection);
}

void RawPublisher::publish(std::size_t subject, std::string_view bytes) {
  Parts& parts = *parts_;
  parts.unacknowledged[subject] = bytes;
  natsMsg* message = nullptr;
  require(natsMsg_Create(&message, parts.subjects[subject].c_str(), parts.reply_subjects[subject].c_str(), bytes.data(),
                         static_cast<int>(bytes.size())),
          "libnats");
  const std::string expected = std::to_string(parts.last[subject]);
  natsStatus status = natsMsgHeader_Set(message, "Nats-Expected-Last-Subject-Sequence", expected.c_str());
  if (status == NATS_OK) status = natsConnection_PublishMsg(parts.connection, message);
  natsMsg_Destroy(message);
  require(status, "publish");
}

const std::vector<std::size_t>& RawPublisher::take_acknowledged(Duration most) {
  Parts& parts = *parts_;
  parts.acknowledged.clear();
  do {
    parts.taken.clear();
    {
      std::unique_lock lock{parts.mutex};
      parts.changed.wait_for(lock, most, [&] { return !parts.arrived.empty(); });
      parts.taken.swap(parts.arrived);
    }
    for (const Parts::Reply& reply : parts.taken) {
      if (reply.sequence == 0) {
        if (++parts.refused > refused_max) throw std::runtime_error("a publish was refused: " + reply.text);
        publish(reply.subject, parts.unacknowledged[reply.subject]);
        continue;
      }
      parts.last[reply.subject] = reply.sequence;
      parts.acknowledged.push_back(reply.subject);
    }
  } while (parts.acknowledged.empty() && !parts.taken.empty());
  return parts.acknowledged;
}

}  // namespace nfx::bench
