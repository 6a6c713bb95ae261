#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

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
// Ranks that one finding of `trace` names one by one, and findings of one answer: a job of 100,000
// ranks of which one left a dump would fill megabytes, and nobody mends nine things at once.
inline constexpr std::size_t kCulpritsNamed = 64;
inline constexpr std::size_t kFindingsNamed = 8;
// A document of ours in a run folder (a verdict with its report is a few KiB, a gate record of 500
// hosts with 20 checks each about 2 MiB), and how deep it may nest (a verdict nests 7 deep).
inline constexpr std::size_t kContractBytes = 16 * 1024 * 1024;
inline constexpr std::size_t kContractDepth = 32;
// A configuration file.
inline constexpr std::size_t kConfigBytes = 1024 * 1024;
// Its pipe: a shell's `<(...)` gives its first bytes at once, a forgotten one none for ever.
inline constexpr std::chrono::seconds kConfigPatience{5};
// The first bytes of a pipe that is to be diagnosed: `<(kubectl logs ...)` asks a cluster first.
inline constexpr std::chrono::seconds kPipePatience{20};
// What one log may tell about its ranks: the first of a kind and rank are the ones that count (a
// rank has a handful of groups), and a job of 16,384 ranks says four things each with room.
inline constexpr std::size_t kWitnessesOfRank = 16;
inline constexpr std::size_t kWitnesses = 131072;
// Ranks of one job that notes, settings and lines may name: four times the largest jobs known.
inline constexpr std::int32_t kRanks = 65536;
// Of all maps of ranks to hosts together, each rank as often as a map names it.
inline constexpr std::size_t kRankPlaces = 4 * 65536;
// Notes of one log: each is a sentence for people.
inline constexpr std::size_t kNotesOfLog = 16;
// Events of one kernel log, and of one kind, code, part and process in it: a single GPU wrote
// 168,924 lines of Xid 45 in two days, and beyond the first few only their number is news.
inline constexpr std::size_t kKernelEvents = 65536;
inline constexpr std::size_t kKernelEventsOfPart = 16;
// Tracebacks that are open at one time in a log: one for each rank that writes into it.
inline constexpr std::size_t kOpenTracebacks = 16384;
// Rules of `explain`, built in and a user's (each failure met gets one: hundreds in years), one
// pattern of them, and one word that it takes from a line (a path is 4,096 bytes at most, and
// rarely 200).
inline constexpr std::size_t kRules = 4096;
inline constexpr std::size_t kRulePatternBytes = 4096;
inline constexpr std::size_t kRuleWordBytes = 512;
// Events of one log in `explain`, and of one rule, host, rank and part in it: beyond the first few
// only their number is news. Of what a run did, the last ones count as well (the save that it died
// in).
inline constexpr std::size_t kLogEvents = 65536;
inline constexpr std::size_t kLogEventsOfRule = 8;
inline constexpr std::size_t kLogEventsOfContext = 64;
// Events and facts of all logs of one run: 16,384 ranks that say sixteen things each; 300 MiB.
inline constexpr std::size_t kRunEvents = 262144;
inline constexpr std::size_t kRunFacts = 262144;
// Lines of one small document that a tool printed (ps of a host with 10,000 processes, the listing
// of a checkpoint of 16,384 ranks with three files each) and facts kept of it.
inline constexpr std::size_t kSiteLines = 65536;
inline constexpr std::size_t kSiteFacts = 65536;
// Hosts that one bracketed list stands for, records of a data file that are named one by one.
inline constexpr std::size_t kSiteHosts = 16384;
// Hosts that all lists of one document stand for: 1024 jobs of 512 hosts, 130 MiB at worst.
inline constexpr std::size_t kSiteHostsOfDocument = 32 * kSiteHosts;
inline constexpr std::size_t kSiteBadRecords = 64;
// Bytes read from one HTTP answer.
inline constexpr std::size_t kHttpBodyBytes = 64 * 1024 * 1024;
// One URL: what common servers take as a request line.
inline constexpr std::size_t kUrlBytes = 8 * 1024;
// A file of /proc or /sys: the mounts of a host with 10,000 containers are about 2 MB.
inline constexpr std::size_t kKernelFileBytes = 16 * 1024 * 1024;
// Reads of one stream whose latency is kept: the last of them.
inline constexpr std::size_t kStreamLatencies = 65536;

// What is read of one flight-recorder dump. The default ring of 2,000 entries is about 400 kB; a
// ring that somebody set to 2,097,152 "bytes" (they are entries) makes some 400 MB.
inline constexpr std::size_t kFlightBytes = 1024 * 1024 * 1024;
// Its longest string (names and file names; the members of 100,000 ranks are 700 kB).
inline constexpr std::size_t kFlightStringBytes = 1024 * 1024;
// How deep it may nest (a real one nests 5 deep).
inline constexpr std::size_t kFlightDepth = 64;
// Entries read of it, and the last of them that are kept: 65 rings of the usual length, 8 MiB. In
// a job of more ranks each keeps less, so that all keep no more than this many (2 GiB), but
// never fewer than two usual rings.
inline constexpr std::size_t kFlightEntriesRead = 5'000'000;
inline constexpr std::size_t kFlightEntries = 131'072;
inline constexpr std::size_t kFlightEntriesOfRun = 32 * 1024 * 1024;
inline constexpr std::size_t kFlightEntriesLeast = 4096;
// Memory that the dumps of one run may hold: 16,384 ranks with the least need 4.3 GB.
inline constexpr std::uint64_t kFlightRunBytes = 6ull << 30;
// Bytes from one row to the next, and of all that stands outside of them (a call over 5,000 tensors
// is 200 kB; the members of 20 groups of 100,000 ranks are 14 MB). Garbage ends here.
inline constexpr std::size_t kFlightRowBytes = 16 * 1024 * 1024;
// The same before anything of a dump was seen: a row, or one of its words as a name at the top. A
// real one has it in its first 100 bytes, a bare list of torch 2.2 behind its first row. Garbage
// that begins like a dump is refused after this many bytes or values, in 30 ms.
inline constexpr std::size_t kFlightHeadBytes = 1024 * 1024;
inline constexpr std::size_t kFlightHeadValues = 128 * 1024;
// Values of 16 bytes in so many bytes, and those that may be held at one time: rows are let go as
// they come, unless the writer may refer to them again, as Python's does: then 100,000 rows are
// some 7 million values.
inline constexpr std::size_t kFlightRowValues = 1'000'000;
inline constexpr std::size_t kFlightValues = 8'000'000;
// Different strings, and bytes of them that are copied (a dump has about 150).
inline constexpr std::size_t kFlightStrings = 1'000'000;
inline constexpr std::size_t kFlightTextBytes = 64 * 1024 * 1024;
// Different groups, signatures, stacks and frames of one dump, and numbers in all of them: a ring
// of which each call has other shapes needs one for each entry that is kept.
inline constexpr std::size_t kFlightGroups = 65'536;
inline constexpr std::size_t kFlightShared = 262'144;
inline constexpr std::size_t kFlightWords = 8'000'000;
// Ranks named as members, in all groups of one dump: 100,000 in forty.
inline constexpr std::uint64_t kFlightMembers = 4'000'000;

// A flight record of our own trainer: its head and rows may grow in later versions, its ring holds
// 2,048 rows today.
inline constexpr std::uint32_t kFlightRecordHeadBytes = 64 * 1024;
inline constexpr std::uint32_t kFlightRecordRowBytes = 4096;
inline constexpr std::uint32_t kFlightRecordRows = 65'536;

// A wait that is shorter than this may be a save or an evaluation of others, as with waits seen by
// power; longer, it counts.
inline constexpr std::int64_t kFlightLongWaitNs = 120'000'000'000;
// A pause of a rank that says something of its next one; a longer one is a save or a start.
inline constexpr std::int64_t kFlightPauseNs = 30'000'000'000;
// The watchdog writes a dump at the time-out of a call and by twice that at the latest; a file that
// is younger by this much more is a copy, whose time tells nothing.
inline constexpr std::int64_t kFlightCopyMs = 900'000;
// Dumps that end so far apart are of different runs or attempts: clocks of hosts differ by less.
inline constexpr std::int64_t kFlightApartNs = 1'800'000'000'000;

// Others come to their next call minutes after a rank has failed, and after an hour at most. A log
// without a zone is read as UTC and may seem 12 hours older than it is: until then a failure in it
// stands as the cause, but not for sure.
inline constexpr std::chrono::hours kFailureFresh{1};
inline constexpr std::chrono::hours kFailureOld{13};

// An archive of dumps and logs. A job of 16,384 ranks sends four files for each rank; 64 GiB are a
// thousand ranks with rings a hundred times the usual.
inline constexpr std::size_t kArchiveMembers = 65536;
inline constexpr std::uint64_t kArchiveBytes = 64ull << 30;
// Bytes out of each byte in: logs of one repeated line reach 200, a bomb of deflate 1,000. Counted
// once this many bytes came out: small files may be all zeros.
inline constexpr std::uint64_t kArchiveRatio = 500;
inline constexpr std::uint64_t kArchiveRatioFrom = 64ull << 20;
// Telemetry in archives waits in memory until all of it can be read in the order of time: 300 hosts
// with an hour of eight GPUs at a row a second.
inline constexpr std::uint64_t kArchiveKeptBytes = 1ull << 30;

// Files below the folders given to one diagnosis, and how deep they lie: a job of 16,384 ranks with
// three files each, in host/attempt/rank folders.
inline constexpr std::size_t kFolderFiles = 65536;
inline constexpr std::size_t kFolderDepth = 8;
// Of those, what could not be read, and notes, that one answer tells one by one; the rest is
// counted.
inline constexpr std::size_t kInputsNamed = 64;
// What a file is shows in its first bytes; a host map of 16,384 ranks fits whole.
inline constexpr std::size_t kSniffBytes = 512 * 1024;

// Points of one curve of step times: two million steps are half a year of 8 s each, at 100 bytes a
// point. Events (saves, evaluations, restarts) of it that are kept with their text.
inline constexpr std::size_t kCurvePoints = 2'000'000;
inline constexpr std::size_t kCurveEvents = 4096;
// Settings, hosts and ranks that the documents beside a curve may name: each rank of a large job
// may bring an environment of a few hundred variables.
inline constexpr std::size_t kSettings = 65536;
// One record of a TensorBoard event file that is read: scalars are tens of bytes. Graphs and
// pictures are larger, up to the second limit, and are passed over without being held.
inline constexpr std::size_t kEventRecordBytes = 1024 * 1024;
inline constexpr std::size_t kEventSkippedBytes = 2ull << 30;

// A tokenizer.json (the largest known is 34 MB), how deep it may nest (a real one nests 7 deep),
// and what it may hold: the largest known vocabularies have 262,144 ids and 580,604 merges. Ids and
// ranks are packed into one word of 64 bits, which bounds them at 2^21 and 2^22 - 1.
inline constexpr std::size_t kTokenizerBytes = 256 * 1024 * 1024;
inline constexpr std::size_t kTokenizerDepth = 32;
inline constexpr std::size_t kVocabularyIds = 1u << 21;
inline constexpr std::size_t kMerges = (1u << 22) - 1;
// The bytes of one token (the longest known is 256 blanks) and added tokens (6,415 in Gemma's).
inline constexpr std::size_t kTokenBytes = 4096;
inline constexpr std::size_t kAddedTokens = 65536;
// One document to encode: one piece of this size (a text of one letter) needs 9 times its bytes,
// and 36 times where its vocabulary has merges in no order.
inline constexpr std::size_t kEncodedBytes = 128 * 1024 * 1024;

// One record of the inputs of `pack`, and one document: 64 MiB are some 16 million tokens, 8,000
// blocks of the usual length; the longest books have 5 MB. Each thread holds a few of them.
inline constexpr std::size_t kRecordBytes = 64 * 1024 * 1024;

// A pack: tokens of one block (contexts of a million tokens are trained on), blocks (10^12 of 2048
// tokens are two thousand times the largest corpus) and those of one step (16,384 ranks with 256
// each, a thousand times over). Their products stay below 2^62: sums of a few need no check.
inline constexpr std::uint32_t kPackBlockTokens = 1u << 20;
inline constexpr std::uint64_t kPackBlocks = 1ull << 40;
inline constexpr std::uint64_t kPackGlobalBatch = 1ull << 32;
// Numbers of a model's config.json, ten times those of the largest dense models known (hidden
// 16,384, intermediate 53,248, 126 layers, 128 heads of 128, 256,000 tokens, 1 M positions).
inline constexpr std::uint64_t kModelWidth = 1u << 19;
inline constexpr std::uint64_t kModelLayers = 1024;
inline constexpr std::uint64_t kModelHeads = 2048;
inline constexpr std::uint64_t kModelHeadDim = 2048;
inline constexpr std::uint64_t kModelVocabulary = 1u << 22;
inline constexpr std::uint64_t kModelPositions = 1u << 24;

// A checkpoint whose newest file is younger may still be being saved: rank 0 gathers between two
// files, and whole saves of large models took two minutes.
inline constexpr std::chrono::seconds kSaveQuiet{120};
// One line of the journal of a build. The longest holds the ids of nearly one block of the largest
// size, each a document with a loss of its own: 24 MiB.
inline constexpr std::size_t kJournalLineBytes = 64 * 1024 * 1024;

}  // namespace muster::limits
