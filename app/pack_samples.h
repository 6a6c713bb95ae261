#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/open_pack.h"
#include "app/pack_build.h"
#include "app/token_progress.h"
#include "base/result.h"
#include "core/model/finding.h"
#include "edge/os/files.h"

namespace muster {

// What came of holding documents of a pack against the inputs that they were made of.
struct PackSamples {
  std::uint64_t documents = 0;  // drawn
  std::uint64_t compared = 0;   // of these, as the tokenizer gives them again
  // Inputs that are gone, cannot be read, or are others than those that were packed: of the
  // documents in them nothing is known.
  std::vector<Blind> blind;
  // The first thing in which pack and inputs differ: the record, and what is wrong with it.
  std::optional<Evidence> different;
};

// At most this many documents are drawn: a fault in one of a hundred is then missed once in ten
// runs of a thousand, and one in all of them is never missed.
inline constexpr std::uint64_t kSampledDocuments = 256;

// Reads the inputs again, all of them, and holds them against their hashes and numbers of documents
// in the manifest. Documents that `seed` draws are encoded again by an encoder of their own; their
// ids, with the EOS, and their loss bits are those of the pack (with concat in their place, with
// the best fits somewhere), and what the ids stand for is UTF-8, and the text itself where it is
// not normalised. Memory: one chunk of an input and one document.
//
// Errc::invalid_input where `vocabulary` is another than that of the pack, or where the pack does
// not tell how its texts were read. Errc::corrupt where the pack is damaged: verify that first.
Result<PackSamples> compare_samples(const OpenPack& pack, const PackVocabulary& vocabulary,
                                    Files& files, std::uint64_t seed,
                                    const TokenProgress& progress);

}  // namespace muster
