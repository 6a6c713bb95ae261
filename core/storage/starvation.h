#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Whether a medium can let a training run wait. A loader that reads ahead has the whole time of a
// step for the bytes of the next one, so all that counts is the rate. The page cache turns the
// question into one of sizes: what fits in memory is read from the medium once, what does not is
// read from it in every epoch.

namespace muster::storage {

// What one host must read for one step of the run, all of its ranks together.
struct Demand {
  double step_seconds = 0, step_bytes = 0;  // both more than 0
  double bytes_per_second() const { return step_bytes / step_seconds; }
};

// Bytes per second; nothing where it was not measured.
struct Supply {
  std::optional<double> warm, cold;
  std::optional<double> cache_bytes;  // memory that can hold pages of files
};

// At which size of a dataset "it makes no difference where the data lie" stops being true.
struct Inversion {
  enum class Kind : std::uint8_t {
    never,    // cold reads feed the steps: no size matters
    beyond,   // above the sizes below
    always,   // not even the page cache feeds the steps
    unknown,  // a figure is missing
  };
  Kind kind = Kind::unknown;
  // Of `beyond`. Read in the same order every epoch, the pages that come next are those that went
  // longest ago: all that is larger than memory is read cold. Shuffled, the share that fits is
  // found, and the mean rate falls below the need at a larger size.
  double in_order_bytes = 0, shuffled_bytes = 0;
};

std::string_view inversion_name(Inversion::Kind kind);

Inversion inversion_of(const Demand& demand, const Supply& supply);

// Mean rate of a shuffled epoch over `dataset_bytes` of which `cache_bytes` stay in memory.
double shuffled_rate(double dataset_bytes, double cache_bytes, double warm, double cold);

enum class Starves : std::uint8_t { no, yes, unknown };
std::string_view starves_name(Starves starves);

// Whether first reads (cold) of the medium let such steps wait, and how many times what they need
// it gives. Above 0.9 and below 1.1 times it is `unknown`: rates repeat no better than that.
struct Starvation {
  Starves starves = Starves::unknown;
  std::optional<double> cold_headroom, warm_headroom;
};
Starvation starvation_of(const Demand& demand, const Supply& supply);

// For people, a sentence each: the verdict and the size at which it turns.
std::string starvation_text(const Demand& demand, const Supply& supply);
std::string inversion_text(const Demand& demand, const Supply& supply);
// Without a demand: what the machine would do with a dataset.
std::string cache_text(const Supply& supply);

// "1.05 MB", "4.04 GB", "23.5 TB": decimal, three digits.
std::string size_text(double bytes);
// "0.85 times", "12.3 times", "6246 times".
std::string times_text(double headroom);

}  // namespace muster::storage
