#include "edge/engine/probe_runner.h"

#include <unistd.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "edge/engine/native_probes.h"
#include "edge/engine/probe_child.h"
#include "edge/os/clock.h"
#include "edge/os/host_name.h"

namespace muster {
namespace {

using health::HostProbe;
using health::Probe;
using health::ProbeAnswer;
using health::ProbeEnd;

// What the threads of one run share; it outlives a thread that hangs.
struct Answers {
  std::mutex mutex;
  std::condition_variable came;
  std::vector<std::optional<ProbeAnswer>> slots;
  std::size_t count = 0;
};

void answer_into(const std::shared_ptr<Answers>& answers, std::size_t slot, const Probe& probe) {
  ProbeAnswer answer = run_probe(probe);
  const std::lock_guard lock(answers->mutex);
  answers->slots[slot] = std::move(answer);
  ++answers->count;
  answers->came.notify_all();
}

ProbeAnswer late(const Probe& probe, Duration waited) {
  ProbeAnswer out;
  out.id = probe.id;
  out.end = ProbeEnd::timeout;
  out.complaint = "what it reads does not answer";
  out.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(waited).count();
  return out;
}

}  // namespace

ProbeAnswer run_probe(const Probe& probe) {
  const MonoTime start = system_clock().mono();
  ProbeAnswer out;
  if (probe.kind == health::ProbeKind::command) {
    std::vector<std::string> words;
    for (const std::string_view word : split(probe.what, ' ')) {
      if (!word.empty()) words.emplace_back(word);
    }
    out = run_probe_child(words, probe.deadline, probe.max_bytes);
  } else if (probe.kind == health::ProbeKind::file) {
    out = read_probe_files(probe.what, probe.max_bytes);
  } else {
    out = run_native_probe(probe);
  }
  out.id = probe.id;
  out.duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock().mono() - start).count();
  return out;
}

HostProbe probe_this_host() {
  // A child that is killed at its deadline needs a moment to be gone.
  constexpr Duration kGrace = std::chrono::milliseconds(1500);
  const auto table = health::probe_table();
  const MonoTime start = system_clock().mono();
  HostProbe out;
  out.host = own_host_name().value_or("this");
  out.reach = health::Reach::reached;
  out.sent_at = system_clock().wall();
  const auto answers = std::make_shared<Answers>();
  answers->slots.resize(table.size());
  Duration longest{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    longest = std::max(longest, table[i].deadline);
    std::thread(answer_into, answers, i, std::cref(table[i])).detach();
  }
  out.host_clock = system_clock().wall();
  std::unique_lock lock(answers->mutex);
  answers->came.wait_for(lock, longest + kGrace, [&] { return answers->count == table.size(); });
  const Duration waited = system_clock().mono() - start;
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto& slot = answers->slots[i];
    out.answers.push_back(slot ? std::move(*slot) : late(table[i], waited));
  }
  out.received_at = system_clock().wall();
  out.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(waited).count();
  return out;
}

}  // namespace muster
