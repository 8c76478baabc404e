// Starts the threads of the control plane.
#include "nexusfix/control/control.hpp"

#include <memory>
#include <thread>

#include "base/clocks.hpp"
#include "control/api.hpp"
#include "control/audit_log.hpp"
#include "control/http_server.hpp"
#include "control/target.hpp"
#include "engine/engine_operations.hpp"
#include "nexusfix/engine/program.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"

namespace nfx {
namespace {

class EngineControl final : public Control {
 public:
  EngineControl(Engine& engine, const std::string& file)
      : target_(control::engine_target(engine, file)),
        audit_(engine.config().control.audit),
        api_(*target_, audit_, [] { return Instant{read_utc(), read_monotonic()}; }),
        server_({.config = engine.config().control,
                 .answer = [this](const control::Request& request) { return api_.begin(request); }}),
        thread_([this, &engine] {
          CpuAffinity::give_way();
          engine.run_on_housekeeping("nfx-control", [this] { server_.run(); });
        }),
        // This thread keeps the default nice value: it adds sessions, and the threads that write their journals would
        // inherit its value.
        worker_([this, &engine] { engine.run_on_housekeeping("nfx-control-io", [this] { server_.run_work(); }); }) {
    EngineOperations{engine}.reload_with_sessions("[control] http", server_.reload());
  }
  ~EngineControl() override {
    server_.stop();
    thread_.join();
    worker_.join();
  }
  std::uint16_t http_port() const noexcept override { return server_.http_port(); }

 private:
  const std::unique_ptr<control::Target> target_;
  control::AuditLog audit_;
  control::Api api_;
  control::HttpServer server_;
  std::thread thread_;
  std::thread worker_;
};

std::shared_ptr<void> part_of(Engine& engine, const std::string& file) { return make_control(engine, file); }

}  // namespace

std::unique_ptr<Control> make_control(Engine& engine, const std::string& file) {
  if (!engine.config().control.wanted()) return nullptr;
  return std::make_unique<EngineControl>(engine, file);
}

bool control_supported() noexcept { return control::http_supported(); }

void use_control() noexcept { set_control_part(part_of); }

}  // namespace nfx
