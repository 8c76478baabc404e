// The minimum that libfabric needs for a write with a number: no slots, credits, regions or checks.
#include "fabric/bare_libfabric.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "nexusfix/concurrent/idle_strategy.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx::bench {
namespace {

void need(long result, const char* what) {
  if (result < 0)
    throw std::runtime_error(std::string{"bare libfabric: "} + what + ": " + fi_strerror(static_cast<int>(-result)));
}

struct Address {
  std::array<char, 256> name{};
  std::uint64_t base = 0;
  std::uint64_t key = 0;
};

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

class Bare {
 public:
  explicit Bare(int socket) : memory_(1 << 20) {
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("shm");
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    need(fi_getinfo(FI_VERSION(1, 14), nullptr, nullptr, 0, hints, &info_), "fi_getinfo");
    fi_freeinfo(hints);
    need(fi_fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric");
    need(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain");
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_DATA;
    queue.size = 1024;
    need(fi_cq_open(domain_, &queue, &cq_, nullptr), "fi_cq_open");
    fi_av_attr addresses{};
    addresses.type = FI_AV_TABLE;
    need(fi_av_open(domain_, &addresses, &av_, nullptr), "fi_av_open");
    need(fi_endpoint(domain_, info_, &ep_, nullptr), "fi_endpoint");
    need(fi_ep_bind(ep_, &cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    need(fi_ep_bind(ep_, &av_->fid, 0), "fi_ep_bind");
    need(fi_enable(ep_), "fi_enable");
    need(fi_mr_reg(domain_, memory_.data(), memory_.size(), FI_WRITE | FI_REMOTE_WRITE, 0, 1, 0, &mr_, nullptr),
         "fi_mr_reg");
    Address own, peer;
    std::size_t size = own.name.size();
    need(fi_getname(&ep_->fid, own.name.data(), &size), "fi_getname");
    own.base =
        (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uintptr_t>(memory_.data()) : 0;
    own.key = fi_mr_key(mr_);
    if (::send(socket, &own, sizeof own, 0) != sizeof own ||
        ::recv(socket, &peer, sizeof peer, MSG_WAITALL) != sizeof peer)
      throw std::runtime_error("bare libfabric: the other process ended");
    if (fi_av_insert(av_, peer.name.data(), 1, &to_, 0, nullptr) != 1)
      throw std::runtime_error("bare libfabric: fi_av_insert");
    base_ = peer.base;
    key_ = peer.key;
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  ~Bare() {
    for (fid* each : {&ep_->fid, &mr_->fid, &cq_->fid, &av_->fid, &domain_->fid, &fabric_->fid}) fi_close(each);
    fi_freeinfo(info_);
  }

  // Returns whether the provider took it.
  bool post(std::uint32_t bytes, std::uint32_t number) {
    const ssize_t result = fi_writedata(ep_, memory_.data(), bytes, fi_mr_desc(mr_), number, to_, base_, key_,
                                        &contexts_[next_context_++ % contexts_.size()]);
    if (result == -FI_EAGAIN) return false;
    need(result, "fi_writedata");
    return true;
  }
  // Returns the number of entries read; counts the numbers that arrived.
  std::size_t poll() {
    std::array<fi_cq_data_entry, 32> entries;
    const ssize_t count = fi_cq_read(cq_, entries.data(), entries.size());
    if (count == -FI_EAGAIN) return 0;
    need(count, "fi_cq_read");
    for (ssize_t i = 0; i < count; ++i) {
      if ((entries[static_cast<std::size_t>(i)].flags & FI_REMOTE_CQ_DATA) != 0) {
        ++arrived;
        last = static_cast<std::uint32_t>(entries[static_cast<std::size_t>(i)].data);
      } else {
        ++done;
      }
    }
    return static_cast<std::size_t>(count);
  }
  [[nodiscard]] std::byte* memory() noexcept { return memory_.data(); }

  std::uint64_t arrived = 0;
  std::uint64_t done = 0;
  std::uint32_t last = 0;

 private:
  std::vector<std::byte> memory_;
  std::array<fi_context2, 256> contexts_{};
  std::size_t next_context_ = 0;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_cq* cq_ = nullptr;
  fid_av* av_ = nullptr;
  fid_ep* ep_ = nullptr;
  fid_mr* mr_ = nullptr;
  fi_addr_t to_ = FI_ADDR_UNSPEC;
  std::uint64_t base_ = 0;
  std::uint64_t key_ = 0;
};

// A child on CPU 1 that answers every number, or only receives them.
class Other {
 public:
  explicit Other(bool answers) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) throw std::runtime_error("socketpair");
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      static_cast<void>(CpuAffinity::pin_to_core(1));
      try {
        Bare bare{pair[1]};
        for (std::uint64_t answered = 0;;) {
          bare.poll();
          for (; answers && answered < bare.arrived; ++answered) {
            while (!bare.post(0, bare.last)) bare.poll();
          }
        }
      } catch (...) {
        ::_exit(1);
      }
    }
    ::close(pair[1]);
    socket = pair[0];
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(socket);
  }
  int socket = -1;

 private:
  pid_t child_ = 0;
};

}  // namespace

LatencyHistogram bare_round_trips(const BareOptions& options) {
  auto other = std::make_unique<Other>(true);
  static_cast<void>(CpuAffinity::pin_to_core(0));
  Bare bare{other->socket};
  LatencyHistogram one_way;
  constexpr std::uint32_t unmeasured = 200;
  for (std::uint32_t i = 0; i < options.round_trips + unmeasured; ++i) {
    std::memcpy(bare.memory(), &i, sizeof i);
    const std::uint64_t wanted = bare.arrived + 1, begin = now_ns();
    while (!bare.post(options.bytes, i)) bare.poll();
    while (bare.arrived < wanted) {
      if (bare.poll() == 0) cpu_pause();
    }
    if (bare.last != i) throw std::runtime_error("bare libfabric: another number came back");
    if (i >= unmeasured) one_way.record((now_ns() - begin) / 2);
  }
  other.reset();  // before the endpoint that it writes to is closed
  return one_way;
}

BareCosts bare_costs() {
  auto other = std::make_unique<Other>(false);
  static_cast<void>(CpuAffinity::pin_to_core(0));
  Bare bare{other->socket};
  constexpr int bursts = 2000, burst = 16;
  BareCosts costs;
  std::uint64_t posted = 0, post_ns = 0, read_ns = 0, reads = 0, entries = 0, refused_ns = 0, refused = 0;
  while (!bare.post(64, 0)) bare.poll();  // connects
  for (posted = 1; bare.done < posted;) bare.poll();
  for (int i = 0; i < bursts; ++i) {
    std::uint64_t begin = now_ns();
    int taken = 0;
    while (taken < burst && bare.post(64, static_cast<std::uint32_t>(posted + static_cast<std::uint64_t>(taken))))
      ++taken;
    post_ns += now_ns() - begin;
    posted += static_cast<std::uint64_t>(taken);
    while (bare.done < posted) {
      begin = now_ns();
      const std::size_t got = bare.poll();
      if (got == 0) continue;
      read_ns += now_ns() - begin;
      ++reads;
      entries += got;
    }
  }
  const std::uint64_t begin = now_ns();
  constexpr int polls = 100'000;
  for (int i = 0; i < polls; ++i) bare.poll();
  costs.poll_ns = static_cast<double>(now_ns() - begin) / polls;
  // If completions are not read, the provider soon refuses writes.
  for (int i = 0; i < 100'000 && refused < 1000; ++i) {
    const std::uint64_t try_begin = now_ns();
    if (bare.post(64, 0)) continue;
    refused_ns += now_ns() - try_begin;
    ++refused;
  }
  const auto mean = [](std::uint64_t ns, std::uint64_t count) {
    return count == 0 ? 0.0 : static_cast<double>(ns) / static_cast<double>(count);
  };
  costs.post_ns = mean(post_ns, posted - 1);
  costs.refused_ns = mean(refused_ns, refused);
  costs.completion_ns = mean(read_ns, entries) - costs.poll_ns * mean(reads, entries);
  other.reset();  // before the endpoint that it writes to is closed
  return costs;
}

}  // namespace nfx::bench
