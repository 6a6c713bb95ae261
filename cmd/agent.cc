#include <fmt/format.h>

#include "app/agent.h"
#include "cmd/verbs.h"
#include "edge/gpu/nvml.h"
#include "edge/os/stop_signal.h"

namespace muster {
namespace {

constexpr std::string_view kEpilog =
    "Examples:\n"
    "  muster agent                                http://127.0.0.1:9835/metrics\n"
    "  muster agent --listen 10.0.0.7:9835         for a Prometheus server elsewhere\n"
    "  muster agent --history /var/lib/muster/history.db --keep-h 48\n"
    "\n"
    "It listens on this machine alone unless --listen names another address; names of hosts and\n"
    "a port alone are refused. There is no password: on another address everyone who reaches it\n"
    "can read it. /healthz is 200 while the newest sample is no older than three intervals, else\n"
    "503. MUSTER_NVML names another NVML library.\n"
    "\n"
    "Exit status: 0 ended by SIGTERM or SIGINT, 64 usage, 65 no NVML, 70 cannot listen.";

class AgentVerb final : public Verb {
 public:
  std::string_view name() const override { return "agent"; }
  std::string_view summary() const override {
    return "what do the GPUs of this host do now, for Prometheus and as history?";
  }

  void declare(VerbOptions& options) override {
    options.text("--listen", &listen_, "ADDRESS:PORT", "where to listen", "agent.listen");
    options.number("--interval", &interval_s_, "SECONDS", "between samples, 0.1 to 3600",
                   "agent.interval_s");
    options.text("--history", &history_, "FILE", "keep samples in this SQLite file",
                 "agent.history");
    options.number("--keep-h", &keep_h_, "HOURS", "how far the history goes back", "agent.keep_h");
    options.epilog(std::string(kEpilog));
  }

  ExitStatus run(Console& console) override {
    const auto listen = parse_listen(listen_);
    if (!listen) {
      console.complain("--listen: " + listen.error().context);
      return ExitStatus::usage;
    }
    const StopOnSignal stop;  // before any thread
    auto source = open_nvml({});
    if (!source) {
      console.complain(source.error().context + ", so there is no GPU to watch");
      return ExitStatus::no_input;
    }
    std::unique_ptr<History> history;
    if (!history_.empty()) {
      auto opened = History::open({history_, seconds_to_duration(keep_h_ * 3600)});
      if (!opened) return console.fail(within("history", opened.error()));
      history = std::move(*opened);
      for (const std::string& note : history->notes()) console.complain(note);
    }
    return serve(console, *listen, **source, history.get(), stop.token());
  }

 private:
  ExitStatus serve(Console& console, const HttpServerOptions& listen, TelemetrySource& source,
                   History* history, const std::stop_token& stop) const {
    const Duration interval = seconds_to_duration(interval_s_);
    AgentPages pages(system_clock(), interval, read_self_usage);
    auto server =
        HttpServer::start(listen, [&pages](std::string_view path) { return pages.answer(path); });
    if (!server) {
      console.complain(server.error().context);
      return ExitStatus::internal;
    }
    const std::string host =
        listen.host.find(':') == std::string::npos ? listen.host : "[" + listen.host + "]";
    console.complain(fmt::format("listening on http://{}:{}/metrics{}", host, (*server)->port(),
                                 is_loopback(listen) ? "" : ", for everyone who reaches it"));
    AgentOptions options{interval, history,
                         [&console](std::string_view problem) { console.complain(problem); }};
    run_agent(options, source, system_clock(), pages, stop);
    return ExitStatus::ok;
  }

  std::string listen_, history_;
  double interval_s_ = 0, keep_h_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_agent_verb() {
  return std::make_unique<AgentVerb>();
}

}  // namespace muster
