#pragma once

#include <chrono>
#include <cstddef>

// Every bound of the program in one place, each with its reason. Input is hostile: nothing that is
// read may grow memory without one of these.

namespace muster::limits {

// A text line longer than this is damaged (nvidia-smi rows of all 212 fields are about 4 KiB; some
// exporters print lines of a few tens of KiB). What is beyond is dropped up to the next newline.
inline constexpr std::size_t kLineBytes = 256 * 1024;
// A document that must be held whole (XML of an 8-GPU B200 is 357 kB, exporter pages are < 2 MB).
inline constexpr std::size_t kDocumentBytes = 64 * 1024 * 1024;
// Series (GPUs, ports, tasks) one run may have: 16,384 GPUs with room; more are refused by name.
inline constexpr std::size_t kSeries = 65536;
// How far the clock of a host may be off: without time service a few seconds a day; hours are
// another zone, and those are told by --tz.
inline constexpr std::chrono::minutes kClockSkew{5};
// Columns of one CSV heading (nvidia-smi of today has 212 fields).
inline constexpr std::size_t kColumns = 1024;
// Evidence lines kept by one finding, and characters of each.
inline constexpr std::size_t kEvidenceLines = 16;
inline constexpr std::size_t kEvidenceChars = 512;
// A document of ours in a run folder (a verdict with its report is a few KiB, a gate record of 500
// hosts with 20 checks each about 2 MiB), and how deep it may nest (a verdict nests 7 deep).
inline constexpr std::size_t kContractBytes = 16 * 1024 * 1024;
inline constexpr std::size_t kContractDepth = 32;
// A configuration file.
inline constexpr std::size_t kConfigBytes = 1024 * 1024;
// Bytes read from one HTTP answer.
inline constexpr std::size_t kHttpBodyBytes = 64 * 1024 * 1024;
// One URL: what common servers take as a request line.
inline constexpr std::size_t kUrlBytes = 8 * 1024;

}  // namespace muster::limits
