#include "core/storage/comparison.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"

namespace muster::storage {

std::string_view agreement_name(Agreement agreement) {
  constexpr std::string_view kNames[] = {"agrees", "differs", "not_measured"};
  return kNames[static_cast<std::size_t>(agreement)];
}

double bar_of(RowKind kind) {
  return kind == RowKind::warm || kind == RowKind::cold ? 0.10 : 0.05;
}

Comparison compare(RowKind kind, std::span<const FioPair> pairs) {
  Comparison out;
  out.kind = kind;
  out.bar = bar_of(kind);
  std::vector<double> ratios, fio, ours;
  for (const FioPair& pair : pairs) {
    if (!(pair.fio > 0 && pair.ours > 0)) continue;
    ratios.push_back(pair.ours / pair.fio);
    fio.push_back(pair.fio);
    ours.push_back(pair.ours);
  }
  out.pairs = ratios.size();
  if (ratios.empty()) return out;
  out.fio_median = median_of(fio);
  out.our_median = median_of(ours);
  std::sort(ratios.begin(), ratios.end());
  out.ratio = ratios[ratios.size() / 2];
  out.least = ratios.front();
  out.most = ratios.back();
  const std::size_t inner = ratios.size() > 3 ? 1 : 0;
  out.spread = (ratios[ratios.size() - 1 - inner] - ratios[inner]) / 2;
  if (out.pairs < kPairs || out.spread > out.bar) return out;
  out.agreement = std::abs(out.ratio - 1) <= out.bar ? Agreement::agrees : Agreement::differs;
  return out;
}

}  // namespace muster::storage
