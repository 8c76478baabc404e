// HttpServer in a build without Boost.Beast: its constructor names the package.
#ifndef NFX_WITH_BEAST

#include "control/http_server.hpp"
#include "nexusfix/config/engine_config.hpp"

namespace nfx::control {

struct HttpServer::Parts {};

bool http_supported() noexcept { return false; }
HttpServer::HttpServer(HttpServerOptions) { throw ConfigError(std::string{http_unsupported}); }
HttpServer::~HttpServer() = default;
void HttpServer::run() {}
void HttpServer::run_work() {}
void HttpServer::stop() noexcept {}
std::uint16_t HttpServer::http_port() const noexcept { return 0; }
std::function<std::string()> HttpServer::reload() const { return {}; }

}  // namespace nfx::control

#endif
