#pragma once

#include <cstdint>
#include <span>

// Data of the Unicode character database as make_tables.py wrote them (README.md): two versions,
// because Hugging Face's regular expressions and its normalisation are of different ones.

namespace muster::tokens {

// General categories of Unicode 16.0: runs that cover U+0000 to U+10FFFF in order, each its length
// << 4 | its CharClass.
std::span<const std::uint32_t> class_runs();

// Canonical combining classes as Unicode 9.0 knew them: runs as above, length << 8 | class.
std::span<const std::uint32_t> combining_runs();
// Canonical decompositions of Unicode 9.0, three numbers each, ordered by code point: the code
// point (| 1 << 31 where the two parts also compose to it), its first part, its second or 0.
// Hangul syllables are computed and not among them.
std::span<const std::uint32_t> decompositions();

}  // namespace muster::tokens
