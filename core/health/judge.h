#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/health/check.h"

// What the judges share: words for their results, and careful readers of what probes brought.

namespace muster::health {

using Judged = std::vector<CheckResult>;

// Everything that was looked at is as it should be.
Judged passed(std::optional<GateValue> value = std::nullopt,
              std::optional<GateValue> limit = std::nullopt, std::string unit = "");
// Nothing can be said, and why.
Judged cannot_tell(std::string reason);
// The host has nothing of the kind.
Judged skipped(std::string reason);

// One thing at fault, on the whole host. Whoever knows more fills in more.
CheckResult found(CheckOutcome outcome, std::string text);
CheckResult found_gpu(CheckOutcome outcome, const HostProbe& probe, std::string_view gpu,
                      std::string text);
CheckResult found_port(CheckOutcome outcome, const HostProbe& probe, std::string_view port,
                       std::string text);
// `line` of what `probe` printed, kept short, as what decided.
void add_evidence(CheckResult& result, std::string_view probe, std::string_view line);
// `results`, or passed(value, limit, unit) where there are none.
Judged or_passed(Judged results, std::optional<GateValue> value = std::nullopt,
                 std::optional<GateValue> limit = std::nullopt, std::string unit = "");

// Bytes of the only part; empty where there is none.
std::string_view output_of(const ProbeAnswer& answer);
// Lines without their ends; at most limits::kSiteLines of them.
std::vector<std::string_view> lines_of(std::string_view text);
// The first line of what a program complained of, bounded; empty where it said nothing.
std::string shown_line(std::string_view text);
// Words between blanks and tabs.
std::vector<std::string_view> words_of(std::string_view text);
// The answer of a probe that is one of the check's `probes`: it is there and ended well.
const ProbeAnswer& answer_of(const HostProbe& probe, std::string_view id);
// The answer if it ended `done`, else null.
const ProbeAnswer* done_answer(const HostProbe& probe, std::string_view id);
// Why a probe gave nothing to judge: "nvidia_smi_query: not there"; empty where it ended well.
std::string why_not(const HostProbe& probe, std::string_view id);
// Why nothing is known of a host: "refused the connection (ssh: ...)".
std::string reach_text(const HostProbe& probe);
// Why a command that ran is still no answer ("dmesg: Operation not permitted"): it ended with a
// status other than 0.
std::string failure_of(const ProbeAnswer& answer);

// A file of a pattern: the words of its path that the pattern's stars stand for, and its name.
// /sys/class/infiniband/mlx5_0/ports/1/state -> "mlx5_0", "1", "state" where `folder` is
// "/sys/class/infiniband/".
std::vector<std::string_view> path_words(std::string_view path, std::string_view folder);

// "n1/3" of the GPU that nvidia-smi calls `gpu`.
std::string part_id(const HostProbe& probe, std::string_view part);
// Whole numbers of counters stay whole in the record, others do not.
GateValue whole(std::uint64_t value);

// What a host is made of, as far as the probes show; nothing: they do not.
std::optional<std::size_t> gpus_on_pci(const HostProbe& probe);
bool may_have_gpus(const HostProbe& probe, const Limits& limits);
bool may_have_infiniband(const HostProbe& probe, const Limits& limits);

}  // namespace muster::health
