#include "core/model/flight_record.h"

#include <algorithm>

namespace muster {
namespace {

template <std::size_t N>
std::string_view word(const std::array<std::string_view, N>& words, std::size_t place) {
  return place < N ? words[place] : std::string_view();
}

}  // namespace

std::string_view flight_record_op(std::uint8_t op) {
  static constexpr std::array<std::string_view, 5> kWords = {
      "all_gather", "reduce_scatter", "all_reduce", "gather_texts", "barrier"};
  return word(kWords, op);
}

std::string_view flight_record_purpose(std::uint8_t purpose) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "agreement", "weights", "gradients", "replicas", "norm", "loss", "save", "end"};
  return word(kWords, purpose);
}

std::string_view flight_record_failure(std::uint32_t failure) {
  static constexpr std::array<std::string_view, 5> kWords = {"", "desync", "deadline", "gone",
                                                             "aborted"};
  return word(kWords, failure);
}

std::uint64_t flight_record_item_bytes(std::uint8_t dtype) {
  static constexpr std::array<std::uint64_t, 3> kBytes = {8, 4, 2};
  return dtype < kBytes.size() ? kBytes[dtype] : 1;
}

bool looks_like_flight_record(std::string_view head) {
  return head.size() >= kFlightRecordMagic.size() &&
         std::equal(kFlightRecordMagic.begin(), kFlightRecordMagic.end(), head.begin());
}

}  // namespace muster
