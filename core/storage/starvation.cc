#include "core/storage/starvation.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

namespace muster::storage {
namespace {

constexpr double kRepeats = 0.1;  // two runs of one row differ by so much

std::string rate_text(double bytes_per_second) {
  return size_text(bytes_per_second) + "/s";
}

std::string step_text(const Demand& demand) {
  return fmt::format("steps of {:.4g} s that read {}", demand.step_seconds,
                     size_text(demand.step_bytes));
}

}  // namespace

std::string_view inversion_name(Inversion::Kind kind) {
  constexpr std::string_view kNames[] = {"never", "beyond", "always", "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view starves_name(Starves starves) {
  constexpr std::string_view kNames[] = {"no", "yes", "unknown"};
  return kNames[static_cast<std::size_t>(starves)];
}

double shuffled_rate(double dataset_bytes, double cache_bytes, double warm, double cold) {
  const double found = dataset_bytes <= cache_bytes ? 1 : cache_bytes / dataset_bytes;
  return 1 / (found / warm + (1 - found) / cold);
}

Inversion inversion_of(const Demand& demand, const Supply& supply) {
  const double need = demand.bytes_per_second();
  Inversion out;
  if (supply.cold && *supply.cold >= need) {
    out.kind = Inversion::Kind::never;
  } else if (supply.warm && *supply.warm < need) {
    out.kind = Inversion::Kind::always;
  } else if (supply.cold && supply.warm && supply.cache_bytes) {
    out.kind = Inversion::Kind::beyond;
    out.in_order_bytes = *supply.cache_bytes;
    // The share that must be found in memory for the mean to be just what is needed.
    const double found = (1 / *supply.cold - 1 / need) / (1 / *supply.cold - 1 / *supply.warm);
    out.shuffled_bytes = *supply.cache_bytes / found;
  }
  return out;
}

Starvation starvation_of(const Demand& demand, const Supply& supply) {
  const double need = demand.bytes_per_second();
  Starvation out;
  if (supply.warm) out.warm_headroom = *supply.warm / need;
  if (!supply.cold) return out;
  out.cold_headroom = *supply.cold / need;
  if (*out.cold_headroom >= 1 + kRepeats) out.starves = Starves::no;
  if (*out.cold_headroom <= 1 - kRepeats) out.starves = Starves::yes;
  return out;
}

std::string starvation_text(const Demand& demand, const Supply& supply) {
  const Starvation verdict = starvation_of(demand, supply);
  if (!verdict.cold_headroom) {
    return fmt::format("cannot tell whether storage starves {}: cold reads are not measured",
                       step_text(demand));
  }
  const std::string figures =
      fmt::format("cold reads give {}, {} what is needed", rate_text(*supply.cold),
                  times_text(*verdict.cold_headroom));
  if (verdict.starves == Starves::no) {
    return fmt::format("storage cannot starve {}: {}", step_text(demand), figures);
  }
  if (verdict.starves == Starves::yes) {
    return fmt::format("storage starves {} in a first epoch: {}", step_text(demand), figures);
  }
  return fmt::format("storage may or may not starve {}: {}, too close to tell", step_text(demand),
                     figures);
}

std::string inversion_text(const Demand& demand, const Supply& supply) {
  const Inversion inversion = inversion_of(demand, supply);
  switch (inversion.kind) {
    case Inversion::Kind::never:
      return "no size of the dataset changes that: cold reads alone are enough";
    case Inversion::Kind::always:
      return "no size of the dataset is small enough: the page cache itself gives less";
    case Inversion::Kind::beyond:
      return fmt::format(
          "once a dataset is in memory it does not; beyond {} (read in order) or {} (shuffled) "
          "every epoch waits for storage",
          size_text(inversion.in_order_bytes), size_text(inversion.shuffled_bytes));
    case Inversion::Kind::unknown:
      break;
  }
  return "at which size of the dataset that turns cannot be told: a figure is missing";
}

std::string cache_text(const Supply& supply) {
  if (!supply.cache_bytes) return "";
  std::string out = fmt::format("a dataset up to {} stays in memory after its first epoch",
                                size_text(*supply.cache_bytes));
  if (supply.cold) {
    out += fmt::format("; a larger one is read at {} in every epoch", rate_text(*supply.cold));
  }
  return out;
}

std::string times_text(double headroom) {
  if (headroom >= 100) return fmt::format("{:.0f} times", headroom);
  if (headroom < 0.1) return fmt::format("{:.2g} times", headroom);
  return headroom >= 10 ? fmt::format("{:.1f} times", headroom)
                        : fmt::format("{:.2f} times", headroom);
}

std::string size_text(double bytes) {
  static constexpr std::array<const char*, 7> kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.3g} B", bytes);
  const int decimals = std::abs(bytes) >= 99.95 ? 0 : (std::abs(bytes) >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f} {}", bytes, decimals, kUnits[unit]);
}

}  // namespace muster::storage
