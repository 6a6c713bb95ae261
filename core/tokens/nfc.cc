#include "core/tokens/nfc.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "core/tokens/tables/unicode_tables.h"
#include "core/tokens/unicode_class.h"

namespace muster::tokens {
namespace {

// Hangul syllables by arithmetic (the Unicode standard, section 3.12).
constexpr std::uint32_t kSyllable = 0xAC00, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11A7;
constexpr std::uint32_t kLeads = 19, kVowels = 21, kTails = 28;
constexpr std::uint32_t kSyllables = kLeads * kVowels * kTails;

constexpr std::uint32_t kComposes = 1u << 31;

struct NfcData {
  CodePointTable combining;
  CodePointTable relevant;  // 1 where a character is no safe place to cut
  std::array<bool, 256> lead_relevant{};
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> parts;
  std::unordered_map<std::uint64_t, std::uint32_t> whole;

  NfcData()
      : combining(combining_runs().data(), combining_runs().size(), 8),
        relevant(combining_runs().data(), combining_runs().size(), 8) {
    for (std::uint32_t point = 0; point <= 0x10FFFF; ++point) {
      if (combining.at(point) != 0) mark(point);
    }
    const auto table = decompositions();
    for (std::size_t i = 0; i + 2 < table.size(); i += 3) {
      const std::uint32_t point = table[i] & ~kComposes;
      parts.emplace(point, std::pair{table[i + 1], table[i + 2]});
      if ((table[i] & kComposes) == 0) {
        mark(point);
      } else {
        whole.emplace(static_cast<std::uint64_t>(table[i + 1]) << 32 | table[i + 2], point);
        mark(table[i + 2]);
      }
    }
    for (std::uint32_t i = 0; i < kVowels; ++i) mark(kVowel + i);
    for (std::uint32_t i = 1; i < kTails; ++i) mark(kTail + i);
  }

  void mark(std::uint32_t point) {
    relevant.set(point, 1);
    std::string bytes;
    append_utf8(point, bytes);
    lead_relevant[static_cast<unsigned char>(bytes[0])] = true;
  }
};

const NfcData& data() {
  static const NfcData kData;
  return kData;
}

std::uint32_t compose(const NfcData& nfc, std::uint32_t a, std::uint32_t b) {
  if (a - kLead < kLeads && b - kVowel < kVowels) {
    return kSyllable + ((a - kLead) * kVowels + (b - kVowel)) * kTails;
  }
  if (a - kSyllable < kSyllables && (a - kSyllable) % kTails == 0 && b - kTail - 1 < kTails - 1) {
    return a + (b - kTail);
  }
  const auto found = nfc.whole.find(static_cast<std::uint64_t>(a) << 32 | b);
  return found == nfc.whole.end() ? 0 : found->second;
}

struct Point {
  std::uint32_t point;
  std::uint8_t combining;
};

void decompose(const NfcData& nfc, std::uint32_t point, std::vector<Point>& out) {
  if (point - kSyllable < kSyllables) {
    const std::uint32_t i = point - kSyllable;
    out.push_back({kLead + i / (kVowels * kTails), 0});
    out.push_back({kVowel + i / kTails % kVowels, 0});
    if (i % kTails != 0) out.push_back({kTail + i % kTails, 0});
    return;
  }
  const auto found = nfc.parts.find(point);
  if (found == nfc.parts.end()) {
    out.push_back({point, nfc.combining.at(point)});
    return;
  }
  decompose(nfc, found->second.first, out);
  if (found->second.second != 0) decompose(nfc, found->second.second, out);
}

void order_marks(std::vector<Point>& points) {
  const auto less = [](const Point& a, const Point& b) { return a.combining < b.combining; };
  auto it = points.begin();
  while (it != points.end()) {
    if (it->combining == 0) {
      ++it;
      continue;
    }
    const auto end =
        std::find_if(it, points.end(), [](const Point& p) { return p.combining == 0; });
    std::stable_sort(it, end, less);
    it = end;
  }
}

// Composes in place: each character with the last starter before it, unless one between them has
// its class or a higher one.
void compose_all(const NfcData& nfc, std::vector<Point>& points) {
  std::size_t kept = 0, starter = 0;
  bool has_starter = false;
  int last = -1;  // class of what was kept behind the starter; -1: nothing
  for (const Point p : points) {
    if (has_starter && last < p.combining) {
      if (const std::uint32_t joined = compose(nfc, points[starter].point, p.point)) {
        points[starter].point = joined;
        continue;
      }
    }
    if (p.combining == 0) {
      starter = kept;
      has_starter = true;
      last = -1;
    } else {
      last = p.combining;
    }
    points[kept++] = p;
  }
  points.resize(kept);
}

class Writer {
 public:
  Writer(std::string_view source, std::vector<ChangedRun>& changed)
      : nfc_(data()), source_(source), changed_(changed) {
    out_.reserve(source.size());
  }

  std::string run() {
    std::size_t at = 0, before = 0;  // `before`: where the last safe character began
    while (at < source_.size()) {
      const Decoded c = decode_valid(source_.data() + at);
      if (nfc_.relevant.at(c.point) == 0) {
        before = at;
        at += c.bytes;
        continue;
      }
      at = end_of_run(at);
      rewrite(before, at);
      before = at;
    }
    out_.append(source_.substr(copied_));
    return std::move(out_);
  }

 private:
  std::size_t end_of_run(std::size_t at) const {
    while (at < source_.size()) {
      const Decoded c = decode_valid(source_.data() + at);
      if (nfc_.relevant.at(c.point) == 0) break;
      at += c.bytes;
    }
    return at;
  }

  void rewrite(std::size_t begin, std::size_t end) {
    points_.clear();
    for (std::size_t at = begin; at < end;) {
      const Decoded c = decode_valid(source_.data() + at);
      decompose(nfc_, c.point, points_);
      at += c.bytes;
    }
    order_marks(points_);
    compose_all(nfc_, points_);
    out_.append(source_.substr(copied_, begin - copied_));
    const std::size_t to = out_.size();
    for (const Point& p : points_) append_utf8(p.point, out_);
    copied_ = end;
    if (std::string_view(out_).substr(to) == source_.substr(begin, end - begin)) return;
    changed_.push_back({{begin, end}, {to, out_.size()}});
  }

  const NfcData& nfc_;
  std::string_view source_;
  std::vector<ChangedRun>& changed_;
  std::vector<Point> points_;
  std::string out_;
  std::size_t copied_ = 0;  // bytes of the source that are in out_
};

}  // namespace

bool may_need_nfc(std::string_view utf8) {
  const NfcData& nfc = data();
  const char* p = utf8.data();
  const char* const end = p + utf8.size();
  while (p < end) {
    std::uint64_t eight = 0;
    if (end - p >= 8) {
      std::memcpy(&eight, p, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        p += 8;
        continue;
      }
    }
    const auto lead = static_cast<unsigned char>(*p);
    if (nfc.lead_relevant[lead]) {
      const Decoded c = decode_valid(p);
      if (nfc.relevant.at(c.point) != 0) return true;
      p += c.bytes;
    } else {
      p += lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    }
  }
  return false;
}

std::string to_nfc(std::string_view utf8, std::vector<ChangedRun>& changed) {
  return Writer(utf8, changed).run();
}

}  // namespace muster::tokens
