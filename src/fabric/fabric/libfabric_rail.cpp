// The only file that uses libfabric; a build without it has libfabric_rail_absent.cpp instead. libfabric is loaded when
// the first rail is created. Linking it would add 0.2 s to every start of every program, because its providers'
// libraries wait for devices and install crash handlers.
#include "nexusfix/fabric/rail_kinds.hpp"

#ifdef NFX_WITH_LIBFABRIC

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/error_text.hpp"
#include "fabric/rendezvous.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric {
namespace {

constexpr std::uint32_t version = FI_VERSION(1, 14);
constexpr std::size_t max_address = 512;
constexpr std::size_t max_name = 64;
constexpr std::uint64_t page_of_flag = 4096;

// Functions that are not called through an object.
struct Library {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  std::string missing;  // why it could not be loaded

  Library() {
    // Never unloaded, because the handlers of its providers stay.
    void* const file = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    const bool complete = file != nullptr && find(file, "fi_getinfo", getinfo) && find(file, "fi_dupinfo", dupinfo) &&
                          find(file, "fi_freeinfo", freeinfo) && find(file, "fi_fabric", fabric) &&
                          find(file, "fi_strerror", strerror);
    if (complete) return;
    const char* const why = ::dlerror();
    missing = "libfabric cannot be loaded; install the package libfabric1, or use shm or tcp: ";
    missing += why != nullptr ? why : "unknown reason";
  }

  template <class Function>
  static bool find(void* file, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(file, name));
    return function != nullptr;
  }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

// libfabric's shm names its memory "PID:UID:number". A killed process leaves 16 MiB for each endpoint, and libfabric
// reports them as busy to a later process with the same pid. Before a process creates its first endpoint, all memory
// with its pid belongs to an earlier process.
void remove_left_memory() {
  static std::mutex mutex;
  static pid_t done = 0;  // in this process, not in the one it was forked from
  const std::lock_guard lock{mutex};
  if (std::exchange(done, ::getpid()) == ::getpid()) return;
  const std::string mine = std::to_string(::getpid()) + ':' + std::to_string(::getuid()) + ':';
  std::error_code error;
  for (std::filesystem::directory_iterator each{"/dev/shm", error}, end; !error && each != end; each.increment(error))
    if (each->path().filename().string().starts_with(mine)) ::unlink(each->path().c_str());
}

std::string failure(std::string_view what, long error) {
  return std::string{what} + ": " + library().strerror(static_cast<int>(error < 0 ? -error : error));
}

// Every libfabric object begins with a fid.
template <class Object>
struct Closer {
  void operator()(Object* object) const noexcept { static_cast<void>(::fi_close(&object->fid)); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Closer<Object>>;

struct InfoCloser {
  void operator()(fi_info* info) const noexcept { library().freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, InfoCloser>;

// Exchanged by the two ends; both machines must have the same byte order.
struct PeerRegion {
  std::uint64_t base = 0;
  std::uint64_t key = 0;
  std::uint64_t size = 0;
};
struct Card {
  std::array<char, max_name> provider{};
  std::uint32_t address_size = 0;
  std::uint32_t region_count = 0;
  std::int64_t process = 0;
  std::array<std::byte, max_address> address{};
  std::array<PeerRegion, max_regions> regions{};
};
static_assert(sizeof(Card) <= max_card && std::is_trivially_copyable_v<Card>);

// A page that this end shares with the peer over provider shm.
class ClosedFlag {
 public:
  ClosedFlag() = default;
  ClosedFlag(const ClosedFlag&) = delete;
  ClosedFlag& operator=(const ClosedFlag&) = delete;
  ~ClosedFlag() { unmap(); }

  [[nodiscard]] bool map(int file) noexcept {
    unmap();
    void* const page = ::mmap(nullptr, page_of_flag, PROT_READ, MAP_SHARED, file, 0);
    page_ = page == MAP_FAILED ? nullptr : static_cast<std::byte*>(page);
    return page_ != nullptr;
  }
  void unmap() noexcept {
    if (page_ != nullptr) ::munmap(page_, page_of_flag);
    page_ = nullptr;
  }
  // Read after the bytes: bytes read before it was set are valid.
  [[nodiscard]] bool is_set() const noexcept {
    if (page_ == nullptr) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    return std::atomic_ref{*reinterpret_cast<std::uint32_t*>(page_)}.load(std::memory_order_acquire) != 0;
  }

 private:
  std::byte* page_ = nullptr;
};

std::string source_address(const LibfabricRailOptions& options) {
  if (!options.bind.empty()) return options.bind;
  const std::string& place = options.address.place;
  if (place.starts_with('/')) return "127.0.0.1";
  std::string host = place.substr(0, place.rfind(':'));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host;
}

// Finds the card to use; a text if there is none.
std::expected<Info, std::string> find_card(const LibfabricRailOptions& options, const std::string& provider) {
  const Info hints{library().dupinfo(nullptr)};
  if (!hints) return std::unexpected("libfabric: out of memory");
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = ::strdup(provider.c_str());
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  const bool over_ip = provider.starts_with("tcp") || provider.starts_with("net") || provider.starts_with("sockets") ||
                       provider.starts_with("udp");
  // A connecting end lets routing choose its own address; a listening end, or one with both ends on this host,
  // specifies it.
  const bool own =
      options.address.end == RailEnd::listens || !options.bind.empty() || options.address.place.starts_with('/');
  const std::string node = source_address(options);
  fi_info* found = nullptr;
  int result = library().getinfo(version, over_ip ? node.c_str() : nullptr, nullptr, over_ip && own ? FI_SOURCE : 0,
                                 hints.get(), &found);
  if (result != 0) {
    // Some providers make progress by themselves and offer nothing else.
    hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_UNSPEC;
    result = library().getinfo(version, over_ip ? node.c_str() : nullptr, nullptr, over_ip && own ? FI_SOURCE : 0,
                               hints.get(), &found);
  }
  if (result != 0) {
    return std::unexpected("no card for provider '" + provider + "' (" + library().strerror(-result) +
                           "); 'fi_info -l' lists providers, 'fi_info -p " + provider + "' its cards");
  }
  const Info all{found};
  std::string names;
  for (const fi_info* each = found; each != nullptr; each = each->next) {
    const std::string_view name = each->domain_attr->name;
    if (name.starts_with(options.card) && each->domain_attr->cq_data_size >= sizeof(std::uint32_t))
      return Info{library().dupinfo(each)};
    names += (names.empty() ? "" : ", ") + std::string{name};
  }
  return std::unexpected("provider '" + provider + "' has no card '" + options.card + "'; it has: " + names);
}

std::expected<Info, std::string> choose(const LibfabricRailOptions& options) {
  if (!library().missing.empty()) return std::unexpected(library().missing);
  if (!options.provider.empty()) return find_card(options, options.provider);
  std::string why;
  for (const std::string_view provider : preferred_providers) {
    auto found = find_card(options, std::string{provider});
    if (found) return found;
    why = found.error();
  }
  return std::unexpected(why);
}

}  // namespace

struct LibfabricRail::Parts {
  Parts(const LibfabricRailOptions& given, Info chosen)
      : options(given),
        info(std::move(chosen)),
        rendezvous(CardKind::libfabric, given.address),
        contexts(given.slots),
        provider(info->fabric_attr->prov_name),
        card(info->domain_attr->name) {
    last_error.reserve(512);
    free_text();
  }

  void free_text() { name = provider + ' ' + card + ' ' + rendezvous.place(); }

  // Members that live as long as the rail.
  const LibfabricRailOptions options;
  const Info info;
  Rendezvous rendezvous;
  Owned<fid_fabric> fabric;
  Owned<fid_domain> domain;
  std::vector<const Region*> regions;
  std::vector<fi_context2> contexts;  // one per slot; a provider writes into it during the write
  Region own_flag;                    // over shm
  std::string provider;
  std::string card;
  std::string name;
  std::string last_error;
  std::uint64_t next_key = 0x1000;

  // The objects of one connection. Members are destroyed in reverse order, the endpoint first.
  struct Connection {
    std::vector<Owned<fid_mr>> registrations;
    std::vector<void*> descriptors;
    Owned<fid_av> addresses;
    Owned<fid_cq> completions;
    Owned<fid_ep> endpoint;
    fi_addr_t peer = FI_ADDR_UNSPEC;
    std::vector<PeerRegion> peer_regions;
    ClosedFlag peer_closed;
    bool broken = false;  // a write failed, or the peer is gone: no further writes
    bool gone = false;    // poll() returns `down` after all remaining completions
    int why = 0;
  };
  std::unique_ptr<Connection> connection;
  RailState state = RailState::closed;

  [[nodiscard]] bool over_shm() const noexcept { return provider == "shm"; }
  [[nodiscard]] bool has(int mode) const noexcept { return (info->domain_attr->mr_mode & mode) != 0; }

  [[nodiscard]] std::uint32_t* flag() noexcept { return reinterpret_cast<std::uint32_t*>(own_flag.data()); }

  bool fail(std::string_view what, long error) {
    last_error = name + ": " + failure(what, error);
    return false;
  }

  bool open_domain() {
    fid_fabric* new_fabric = nullptr;
    if (const int e = library().fabric(info->fabric_attr, &new_fabric, nullptr)) return fail("fi_fabric", e);
    fabric.reset(new_fabric);
    fid_domain* new_domain = nullptr;
    if (const int e = ::fi_domain(fabric.get(), info.get(), &new_domain, nullptr)) return fail("fi_domain", e);
    domain.reset(new_domain);
    return true;
  }

  bool make_queue(Connection& c) {
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_DATA;
    queue.size = options.slots + options.arrivals;
    queue.wait_obj = FI_WAIT_NONE;
    fid_cq* cq = nullptr;
    if (const int e = ::fi_cq_open(domain.get(), &queue, &cq, nullptr)) return fail("fi_cq_open", e);
    c.completions.reset(cq);
    fi_av_attr vector{};
    vector.type = FI_AV_TABLE;
    vector.count = 1;
    fid_av* av = nullptr;
    if (const int e = ::fi_av_open(domain.get(), &vector, &av, nullptr)) return fail("fi_av_open", e);
    c.addresses.reset(av);
    fid_ep* ep = nullptr;
    if (const int e = ::fi_endpoint(domain.get(), info.get(), &ep, nullptr)) return fail("fi_endpoint", e);
    c.endpoint.reset(ep);
    if (const int e = ::fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV)) return fail("fi_ep_bind", e);
    if (const int e = ::fi_ep_bind(ep, &av->fid, 0)) return fail("fi_ep_bind", e);
    if (const int e = ::fi_enable(ep)) return fail("fi_enable", e);
    return true;
  }

  bool register_regions(Connection& c) {
    for (const Region* region : regions) {
      fid_mr* mr = nullptr;
      // A separate key for each connection, so that an old connection cannot use a later one's.
      const int e = ::fi_mr_reg(domain.get(), region->data(), region->size(), FI_WRITE | FI_REMOTE_WRITE, 0, next_key++,
                                0, &mr, nullptr);
      if (e != 0) return fail("cannot register region '" + region->use() + "'; is 'ulimit -l' high enough?", e);
      c.registrations.emplace_back(mr);
      if (has(FI_MR_ENDPOINT)) {
        if (const int bound = ::fi_mr_bind(mr, &c.endpoint->fid, 0)) return fail("fi_mr_bind", bound);
        if (const int enabled = ::fi_mr_enable(mr)) return fail("fi_mr_enable", enabled);
      }
      c.descriptors.push_back(::fi_mr_desc(mr));
    }
    return true;
  }

  bool make_card(Connection& c, Card& own) {
    provider.copy(own.provider.data(), max_name - 1);
    std::size_t size = own.address.size();
    if (const int e = ::fi_getname(&c.endpoint->fid, own.address.data(), &size)) return fail("fi_getname", e);
    own.address_size = static_cast<std::uint32_t>(size);
    own.region_count = static_cast<std::uint32_t>(regions.size());
    own.process = ::getpid();
    for (std::size_t i = 0; i < regions.size(); ++i) {
      own.regions[i] = {
          .base = has(FI_MR_VIRT_ADDR) ? reinterpret_cast<std::uintptr_t>(regions[i]->data()) : std::uintptr_t{0},
          .key = ::fi_mr_key(c.registrations[i].get()),
          .size = regions[i]->size()};
    }
    return true;
  }

  bool connect() {
    auto made = std::make_unique<Connection>();
    Card own;
    if (!make_queue(*made) || !register_regions(*made) || !make_card(*made, own)) return false;
    int file = -1;
    if (over_shm()) {
      // A new page for each connection, because the peer may still read the previous one.
      auto flag_page = Region::make({.use = "fabric-closed", .size = page_of_flag, .node = -1, .huge_pages = false});
      if (!flag_page) {
        last_error = flag_page.error();
        return false;
      }
      own_flag = std::move(*flag_page);
      file = own_flag.file();
    }
    rendezvous.begin(std::as_bytes(std::span{&own, 1}), over_shm() ? std::span{&file, 1} : std::span<int>{});
    connection = std::move(made);
    return true;
  }

  // Handles the arrival of the peer's card.
  bool meet() {
    Connection& c = *connection;
    Rendezvous::PeerCard& from = rendezvous.peer();
    Card peer;
    if (from.bytes.size() != sizeof peer) return refuse("its card has another size");
    std::memcpy(&peer, from.bytes.data(), sizeof peer);
    peer.provider.back() = '\0';
    if (provider != peer.provider.data()) return refuse("its provider is another one");
    if (peer.region_count > max_regions || peer.address_size > max_address) return refuse("its card is damaged");
    if (peer.region_count != regions.size()) return refuse("it has another number of regions");
    if (over_shm()) {
      // Ends in one process share objects that the provider frees when the first of them is closed.
      if (peer.process == ::getpid()) return refuse("provider shm is for two processes, and it is this one");
      const int file = from.release_file(0);
      const bool mapped = file >= 0 && c.peer_closed.map(file);
      if (file >= 0) ::close(file);
      if (!mapped) return refuse("it shares no page");
    }
    if (::fi_av_insert(c.addresses.get(), peer.address.data(), 1, &c.peer, 0, nullptr) != 1)
      return refuse("its address is not one of this provider");
    c.peer_regions.assign(peer.regions.begin(), peer.regions.begin() + peer.region_count);
    state = RailState::up;
    return true;
  }

  bool refuse(std::string_view why) {
    last_error = name + ": the peer was refused: " + std::string{why};
    return false;
  }

  // ofi_rxm of libfabric 1.17 and later may crash when an endpoint is closed with unread completions
  // (github.com/ofiwg/libfabric/issues/11828).
  static void drain(Connection& c) noexcept {
    constexpr int most = 4096, in_vain_most = 64;
    std::array<fi_cq_data_entry, 32> entries;
    for (int i = 0, in_vain = 0; i < most && in_vain < in_vain_most; ++i) {
      const ssize_t count = ::fi_cq_read(c.completions.get(), entries.data(), entries.size());
      in_vain = count > 0 ? 0 : in_vain + 1;
      fi_cq_err_entry entry{};
      if (count == -FI_EAVAIL) static_cast<void>(::fi_cq_readerr(c.completions.get(), &entry, 0));
    }
  }

  void end_connection() noexcept {
    if (over_shm() && own_flag.data() != nullptr) {
      std::atomic_ref{*flag()}.store(1);
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    rendezvous.end();
    if (connection && state == RailState::up && !over_shm()) drain(*connection);
    connection.reset();
    state = RailState::closed;
  }

  [[nodiscard]] std::uint32_t slot_of(const void* context) const noexcept {
    return static_cast<std::uint32_t>(static_cast<const fi_context2*>(context) - contexts.data());
  }
  [[nodiscard]] bool is_slot(const void* context) const noexcept {
    return context >= contexts.data() && context < contexts.data() + contexts.size();
  }

  [[gnu::cold, gnu::noinline]] std::size_t read_error(Connection& c, std::span<Completion> out) noexcept {
    fi_cq_err_entry entry{};
    if (::fi_cq_readerr(c.completions.get(), &entry, 0) < 1) return 0;
    c.broken = true;
    if (is_slot(entry.op_context)) {
      out[0] = {.kind = CompletionKind::failed, .code = entry.err, .value = slot_of(entry.op_context)};
      return 1;
    }
    // An error of the connection, not of a write.
    c.gone = true;
    c.why = entry.err;
    return 0;
  }

  [[gnu::cold, gnu::noinline]] std::size_t report_end(std::span<Completion> out) noexcept {
    out[0] = {.kind = CompletionKind::down, .code = connection->why};
    end_connection();
    return 1;
  }
};

bool libfabric_supported() noexcept { return true; }

LibfabricRail::LibfabricRail(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
LibfabricRail::~LibfabricRail() { close(); }

std::expected<std::unique_ptr<LibfabricRail>, std::string> LibfabricRail::make(const LibfabricRailOptions& options) {
  if (options.slots < 1 || options.slots > 4096)
    return std::unexpected(out_of_range("slots", options.slots, "1 to 4096"));
  if (options.arrivals < 1 || options.arrivals > 65536)
    return std::unexpected(out_of_range("arrivals", options.arrivals, "1 to 65536"));
  if (std::string wrong = check_address(options.address.place); !wrong.empty()) return std::unexpected(wrong);
  if (options.provider == "shm" && !options.address.place.starts_with('/'))
    return std::unexpected("provider shm is for two processes of a host: its address is a Unix socket, and not '" +
                           options.address.place + '\'');
  auto chosen = choose(options);
  if (!chosen) return std::unexpected(chosen.error());
  if (std::string_view{(*chosen)->fabric_attr->prov_name} == "shm") remove_left_memory();
  auto parts = std::make_unique<Parts>(options, std::move(*chosen));
  if (!parts->open_domain()) return std::unexpected(parts->last_error);
  if (auto listening = parts->rendezvous.listen(); !listening) return std::unexpected(listening.error());
  parts->free_text();
  return std::unique_ptr<LibfabricRail>{new LibfabricRail{std::move(parts)}};
}

std::expected<RegionIndex, std::string> LibfabricRail::add_region(const Region& region) {
  Parts& p = *parts_;
  if (p.regions.size() == max_regions) return std::unexpected("a rail has at most 16 regions");
  if (p.state != RailState::closed) return std::unexpected("regions are added before the rail is opened");
  p.regions.push_back(&region);
  return RegionIndex{static_cast<std::uint8_t>(p.regions.size() - 1)};
}

void LibfabricRail::open(MonotonicTime now) noexcept {
  Parts& p = *parts_;
  if (p.state != RailState::closed || !p.connect()) return;
  p.last_error.clear();
  p.state = RailState::opening;
  maintain(now);
}

void LibfabricRail::maintain(MonotonicTime now) noexcept {
  Parts& p = *parts_;
  if (p.state == RailState::opening) {
    p.rendezvous.advance(now);
    if (p.rendezvous.complete() && !p.meet()) p.end_connection();
    return;
  }
  if (p.state == RailState::up && p.rendezvous.peer_is_gone()) p.connection->gone = p.connection->broken = true;
}

void LibfabricRail::close() noexcept { parts_->end_connection(); }

WriteResult LibfabricRail::try_write(const Write& write) noexcept {
  Parts& p = *parts_;
  if (p.state != RailState::up) return WriteResult::failed;
  Parts::Connection& c = *p.connection;
  const std::size_t from = std::to_underlying(write.local_region), to = std::to_underlying(write.remote_region);
  if (c.broken || from >= p.regions.size() || to >= c.peer_regions.size()) return WriteResult::failed;
  const PeerRegion& remote = c.peer_regions[to];
  if (!p.regions[from]->contains(write.local_offset, write.length) || write.remote_offset > remote.size ||
      write.length > remote.size - write.remote_offset)
    return WriteResult::failed;
  NFX_ASSERT(write.slot < p.contexts.size());
  std::byte* const bytes = p.regions[from]->data() + write.local_offset;
  ssize_t result = 0;
  if (!write.more) {
    result = ::fi_writedata(c.endpoint.get(), bytes, write.length, c.descriptors[from], write.number, c.peer,
                            remote.base + write.remote_offset, remote.key, &p.contexts[write.slot]);
  } else {
    const iovec part{bytes, write.length};
    const fi_rma_iov into{remote.base + write.remote_offset, write.length, remote.key};
    const fi_msg_rma message{.msg_iov = &part,
                             .desc = &c.descriptors[from],
                             .iov_count = 1,
                             .addr = c.peer,
                             .rma_iov = &into,
                             .rma_iov_count = 1,
                             .context = &p.contexts[write.slot],
                             .data = write.number};
    result = ::fi_writemsg(c.endpoint.get(), &message, FI_REMOTE_CQ_DATA | FI_COMPLETION | FI_MORE);
  }
  if (result == 0) [[likely]]
    return WriteResult::ok;
  if (result == -FI_EAGAIN) return WriteResult::again;
  c.broken = c.gone = true;
  c.why = static_cast<int>(-result);
  return WriteResult::failed;
}

std::size_t LibfabricRail::poll(std::span<Completion> out) noexcept {
  Parts& p = *parts_;
  if (p.state != RailState::up || out.empty()) return 0;
  Parts::Connection& c = *p.connection;
  // Provider shm of libfabric 1.17 crashes if it answers a peer that closed its endpoint before both were connected.
  if (c.peer_closed.is_set()) [[unlikely]]
    return p.report_end(out);
  std::array<fi_cq_data_entry, 32> entries;
  const ssize_t count = ::fi_cq_read(c.completions.get(), entries.data(), std::min(out.size(), entries.size()));
  if (count > 0) {
    if (c.peer_closed.is_set()) [[unlikely]] {
      // The peer may have reused its memory before it was read.
      return p.report_end(out);
    }
    std::size_t filled = 0;
    for (ssize_t i = 0; i < count; ++i) {
      const fi_cq_data_entry& entry = entries[static_cast<std::size_t>(i)];
      if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
        out[filled++] = {.kind = CompletionKind::arrived,
                         .value = static_cast<std::uint32_t>(entry.data),
                         .length = static_cast<std::uint32_t>(entry.len)};
      } else if (p.is_slot(entry.op_context)) {
        out[filled++] = {.kind = CompletionKind::done, .value = p.slot_of(entry.op_context)};
      }
    }
    return filled;
  }
  if (count == -FI_EAGAIN) return c.gone ? p.report_end(out) : 0;
  if (count == -FI_EAVAIL) return p.read_error(c, out);
  c.gone = true;
  c.why = static_cast<int>(-count);
  return p.report_end(out);
}

RailState LibfabricRail::state() const noexcept { return parts_->state; }

RailLimits LibfabricRail::limits() const noexcept {
  const Parts& p = *parts_;
  return {.slots = p.options.slots,
          .arrivals = p.options.arrivals,
          .longest_write = std::min<std::uint64_t>(p.info->ep_attr->max_msg_size, UINT32_MAX)};
}

std::string_view LibfabricRail::name() const noexcept { return parts_->name; }

std::string_view LibfabricRail::last_error() const noexcept {
  return parts_->last_error.empty() ? parts_->rendezvous.error() : std::string_view{parts_->last_error};
}

const std::string& LibfabricRail::place() const noexcept { return parts_->rendezvous.place(); }
const std::string& LibfabricRail::provider() const noexcept { return parts_->provider; }
const std::string& LibfabricRail::card() const noexcept { return parts_->card; }

}  // namespace nfx::fabric

#endif
