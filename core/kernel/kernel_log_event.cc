#include "core/kernel/kernel_log_event.h"

#include <fmt/core.h>

#include "core/kernel/kernel_cause.h"

namespace muster {
namespace {

using Kind = KernelEventKind;

EventTime time_of(const KernelTime& time) {
  return {
      .at = time.at, .has_zone = time.has_zone, .has_date = true, .since_boot = time.since_boot};
}

EventRole role_of(const KernelEvent& event, const KernelJudgement& judgement) {
  if (event.kind == Kind::link_up || event.kind == Kind::server_back) return EventRole::context;
  if (judgement.severity == Severity::ok) return EventRole::benign;
  const bool advice = event.kind == Kind::xid && event.code == 154;
  const bool counter = event.grade == KernelGrade::corrected;
  if (advice || counter || judgement.confidence == Confidence::low) return EventRole::confirmation;
  return EventRole::root;
}

std::string with_host(const std::string& host, const std::string& part) {
  return host.empty() ? part : fmt::format("{}/{}", host, part);
}

// A program that faults is to blame itself; else the part of the host.
Culprit subject_of(const KernelEvent& event, Cause cause) {
  const bool program = cause == Cause::app_memory_fault || event.kind == Kind::oom_kill ||
                       event.kind == Kind::segfault || event.kind == Kind::hung_task;
  if (program) {
    if (event.pid)
      return {CulpritKind::process, with_host(event.host, fmt::format("{}", *event.pid))};
    if (!event.process.empty()) {
      return {CulpritKind::process, with_host(event.host, event.process)};
    }
    if (event.pci.empty()) return {};
    return {CulpritKind::process, "@" + with_host(event.host, event.pci)};
  }
  switch (event.kind) {
    case Kind::xid:
    case Kind::gpu_lost:
    case Kind::gpu_init_failed:
      if (!event.pci.empty()) return {CulpritKind::gpu, with_host(event.host, event.pci)};
      break;
    case Kind::link_down:
    case Kind::link_up:
    case Kind::cable_fault:
    case Kind::nic_fault:
      if (!event.device.empty()) return {CulpritKind::port, with_host(event.host, event.device)};
      break;
    case Kind::server_lost:
    case Kind::server_back:
      if (!event.device.empty()) return {CulpritKind::host, event.device};
      return {};
    case Kind::device_lost:
      if (event.device == "nvidia" && !event.pci.empty()) {
        return {CulpritKind::gpu, with_host(event.host, event.pci)};
      }
      break;
    default:
      break;
  }
  return {CulpritKind::host, event.host.empty() ? "this" : event.host};
}

void add_words(const KernelEvent& event, LogEvent& out) {
  const auto text = [&out](std::string_view name, const std::string& value) {
    if (!value.empty()) out.words.emplace_back(name, value);
  };
  const auto number = [&text](std::string_view name, const auto& value) {
    if (value) text(name, fmt::format("{}", *value));
  };
  constexpr std::string_view kGrades[] = {"corrected", "nonfatal", "fatal"};
  number("code", event.code);
  text("pci", event.pci);
  text("gpu_uuid", event.gpu_uuid);
  text("process", event.process);
  text("device", event.device);
  number("link", event.link);
  number("caused_by", event.caused_by);
  if (event.grade) text("grade", std::string(kGrades[static_cast<std::size_t>(*event.grade)]));
  if (event.recovery) text("recovery", fmt::format("{}", static_cast<int>(*event.recovery)));
  if (event.nvlink) text("unit", event.nvlink->unit);
}

}  // namespace

LogEvent log_event_of(const KernelEvent& event, const std::string& source) {
  const KernelJudgement judgement = cause_of(event);
  LogEvent out;
  out.rule = std::string(kernel_event_kind_name(event.kind));
  out.cause = judgement.cause;
  out.role = role_of(event, judgement);
  out.severity = judgement.severity;
  out.confidence = judgement.confidence;
  out.time = time_of(event.time);
  out.last = time_of(event.last);
  out.host = event.host;
  out.pid = event.pid;
  out.subject = subject_of(event, judgement.cause);
  add_words(event, out);
  out.meaning = judgement.meaning;
  for (const Action action : {judgement.first, judgement.then}) {
    if (action != Action::none) out.actions.push_back(action);
  }
  out.text = event.text;
  out.source = source;
  out.line = event.line;
  out.repeats = event.repeats;
  return out;
}

}  // namespace muster
