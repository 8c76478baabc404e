// A build without libnats: the functions exist, and their errors name the package.
#ifndef NFX_WITH_NATS
#include "nats/nats_stream.hpp"

namespace nfx::nats {

namespace {
constexpr std::string_view missing = "built without libnats: install the package libnats-dev and build again";
[[noreturn]] void refuse() { throw NatsError{std::string{missing}}; }
}  // namespace

struct NatsStream::Connection {};
struct NatsStream::Parts {};

std::string_view missing_package() noexcept { return missing; }

NatsStream::NatsStream(const NatsOptions&) { refuse(); }
NatsStream::NatsStream(NatsStream&&) noexcept = default;
NatsStream& NatsStream::operator=(NatsStream&&) noexcept = default;
NatsStream::~NatsStream() = default;
SessionIndex NatsStream::add_session(std::string_view, cluster::GatewayId) { refuse(); }
void NatsStream::request(SessionIndex, const cluster::Action&) { refuse(); }
void NatsStream::read_lease(SessionIndex) { refuse(); }
void NatsStream::wait(Duration) { refuse(); }
void NatsStream::flush() { refuse(); }
void NatsStream::call_on_answer(std::function<void()>) { refuse(); }
void NatsStream::leave_server() { refuse(); }
bool NatsStream::leaves_server() const { refuse(); }
void NatsStream::request_reach() { refuse(); }
bool NatsStream::lacks_others() const { refuse(); }
const std::string& NatsStream::server() const { refuse(); }
Duration NatsStream::lease() { refuse(); }
void NatsStream::create(const StreamLimits&) { refuse(); }
std::vector<CheckLine> NatsStream::check() { refuse(); }
std::vector<StoredSession> NatsStream::list() { refuse(); }
std::vector<std::string> NatsStream::gateways() { refuse(); }
StreamState NatsStream::state() { refuse(); }
std::vector<StoredFrame> NatsStream::read_after(std::string_view, std::uint64_t, std::uint32_t) { refuse(); }
void NatsStream::remove_before(std::string_view, std::uint64_t) { refuse(); }
void NatsStream::remove_frame(std::uint64_t) { refuse(); }
std::optional<std::uint64_t> NatsStream::audit_sequence() { refuse(); }
void NatsStream::take_answers() { refuse(); }
std::string NatsStream::write_error() { refuse(); }
std::map<std::string, std::uint64_t> NatsStream::leases() { refuse(); }

}  // namespace nfx::nats
#endif
