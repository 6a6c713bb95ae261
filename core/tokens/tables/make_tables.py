#!/usr/bin/env python3
"""Writes unicode16_classes.cc and unicode9_nfc.cc beside itself; README.md says with what."""

import pathlib
import sys

import unicodedata2 as ucd

LAST = 0x10FFFF
BLANKS = {*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
          0x202F, 0x205F, 0x3000}  # White_Space
# The order of CharClass (core/tokens/unicode_class.h).
OTHER, UPPER, LOWER, TITLE, MODIFIER, LETTER, MARK, NUMBER, BLANK, PUNCTUATION, SYMBOL = range(11)
LETTERS = {"Lu": UPPER, "Ll": LOWER, "Lt": TITLE, "Lm": MODIFIER, "Lo": LETTER}
FIRST_LETTERS = {"M": MARK, "N": NUMBER, "P": PUNCTUATION, "S": SYMBOL}

HEAD = """// Made by make_tables.py: {what}
// clang-format off

#include "core/tokens/tables/unicode_tables.h"

namespace muster::tokens {{

"""


def class_of(point):
    if point in BLANKS:
        return BLANK
    category = ucd.category(chr(point))
    return LETTERS.get(category, FIRST_LETTERS.get(category[0], OTHER))


def runs_of(function):
    """[(length, value)] over all code points."""
    runs = []
    for point in range(LAST + 1):
        value = function(point)
        if runs and runs[-1][1] == value:
            runs[-1][0] += 1
        else:
            runs.append([1, value])
    return runs


def ages(path):
    """The version, as (major, minor), in which each assigned code point appeared."""
    age = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        points, version = (part.strip() for part in line.split(";"))
        first, _, last = points.partition("..")
        major, minor = version.split(".")
        for point in range(int(first, 16), int(last or first, 16) + 1):
            age[point] = (int(major), int(minor))
    return age


def rows(numbers):
    """Hexadecimal numbers in lines of less than 100 columns."""
    lines, line = [], ""
    for number in numbers:
        word = f"{number:#x},"
        if len(line) + len(word) > 98:
            lines.append(line)
            line = ""
        line += word
    return "\n".join(lines + [line]) + "\n"


def array(kind, name, numbers):
    return f"constexpr {kind} {name}[] = {{\n{rows(numbers)}}};\n"


def write_classes(folder):
    runs = runs_of(class_of)
    numbers = [length << 4 | value for length, value in runs]
    text = HEAD.format(what=f"general categories of Unicode {ucd.unidata_version}.")
    text += "namespace {\n" + array("std::uint32_t", "kRuns", numbers) + "}  // namespace\n\n"
    text += "std::span<const std::uint32_t> class_runs() { return kRuns; }\n\n"
    text += "}  // namespace muster::tokens\n"
    (folder / "unicode16_classes.cc").write_text(text)
    return len(runs)


def write_nfc(folder, age):
    known = {point for point, version in age.items() if version <= (9, 0)}
    marks = runs_of(lambda point: ucd.combining(chr(point)) if point in known else 0)
    numbers = []
    for point in sorted(known):
        parts = ucd.decomposition(chr(point)).split()
        if not parts or parts[0].startswith("<"):
            continue
        first, second = (int(part, 16) for part in (parts + ["0"])[:2])
        assert first in known and (second == 0 or second in known), hex(point)
        pair = chr(first) + chr(second) if second else ""
        composes = bool(pair) and ucd.normalize("NFC", pair) == chr(point)
        numbers += [point | composes << 31, first, second]
    text = HEAD.format(what="canonical composition of Unicode 9.0.")
    text += "namespace {\n"
    text += array("std::uint32_t", "kMarks", [length << 8 | value for length, value in marks])
    text += array("std::uint32_t", "kDecompositions", numbers)
    text += "}  // namespace\n\n"
    text += "std::span<const std::uint32_t> combining_runs() { return kMarks; }\n"
    text += "std::span<const std::uint32_t> decompositions() { return kDecompositions; }\n\n"
    text += "}  // namespace muster::tokens\n"
    (folder / "unicode9_nfc.cc").write_text(text)
    return len(marks), len(numbers) // 3


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_tables.py DerivedAge.txt")
    if ucd.unidata_version != "16.0.0":
        sys.exit(f"unicodedata2 of Unicode {ucd.unidata_version}; 16.0.0 is needed")
    folder = pathlib.Path(__file__).resolve().parent
    print("runs of classes:", write_classes(folder))
    print("runs of combining classes, decompositions:",
          write_nfc(folder, ages(pathlib.Path(sys.argv[1]))))


main()
