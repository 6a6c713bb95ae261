#!/usr/bin/env python3
"""Text of four kinds for bench/tokens.sh and compare.py: en.jsonl, ko.jsonl, zh.jsonl, code.jsonl.

    make_corpus.py UNPACKED OUT

UNPACKED holds Debian packages unpacked with dpkg -x (README.md names them). Code is what this machine
has: headers of C and C++, Python's library. Documents are shuffled with a fixed seed.
"""

import gzip
import html
import json
import pathlib
import random
import re
import sys
import sysconfig

LARGEST = 24_000_000  # bytes of one kind
TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.S | re.I)
BLANKS = re.compile(r"[ \t]*\n\s*\n\s*")


def plain(page):
    return BLANKS.sub("\n\n", html.unescape(TAGS.sub("", page))).strip()


def man(text):
    return re.sub(r"\\f[BIRP]|^\.\\\".*$", "", text, flags=re.M)


def read(path):
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def texts(folder, *rules):
    """(pattern of paths, how to read them) -> texts, in the order of the paths."""
    for pattern, clean in rules:
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and not path.is_symlink():
                yield clean(read(path))


def same(text):
    return text


def translations(folder, pattern):
    """The translated sentences of message catalogues (.mo), a hundred a document."""
    for path in sorted(folder.glob(pattern)):
        data = path.read_bytes()
        if int.from_bytes(data[:4], "little") != 0x950412DE:
            continue
        count, _, table = (int.from_bytes(data[i:i + 4], "little") for i in (8, 12, 16))
        lines = []
        for i in range(count):
            size, at = (int.from_bytes(data[table + 8 * i + j:][:4], "little") for j in (0, 4))
            lines.append(data[at:at + size].decode("utf-8", "ignore").replace("\0", "\n"))
        for i in range(1, count, 100):
            yield "\n".join(lines[i:i + 100])


def kinds(root):
    share = root / "usr/share"
    yield "en", texts(share, ("libreoffice/help/en-US/**/*.html", plain), ("help/C/**/*.page", plain),
                      ("man/man?/*.gz", man), ("games/fortunes/*", same),
                      ("doc/installation-guide-amd64/en/*.html", plain),
                      ("doc/linux-doc-6.1/Documentation/[a-s]*/*.gz", same),
                      ("doc/linux-doc-6.1/Documentation/[a-s]*/*.rst", same))
    yield "ko", [*texts(share, ("libreoffice/help/ko/**/*.html", plain),
                        ("libreoffice/help/ko/*.js", plain), ("help/ko/**/*.page", plain),
                        ("gimp/2.0/help/ko/*.html", plain), ("doc/debian/FAQ/ko/*.html", plain),
                        ("doc/installation-guide-amd64/ko/*.html", plain),
                        ("doc/linux-doc-6.1/Documentation/translations/ko_KR/**/*", same)),
                 *translations(root, "usr/lib/libreoffice/**/ko/**/*.mo")]
    yield "zh", texts(share, ("libreoffice/help/zh-CN/**/*.html", plain),
                      ("libreoffice/help/zh-CN/*.js", plain), ("help/zh_CN/**/*.page", plain),
                      ("man/zh_CN/man?/*.gz", man), ("games/fortunes/*300", same),
                      ("debian-reference/*zh-cn*", plain), ("doc/debian/FAQ/zh*/*.html", plain),
                      ("doc/installation-guide-amd64/zh*/*.html", plain),
                      ("doc/linux-doc-6.1/Documentation/translations/zh_CN/**/*", same))
    code = pathlib.Path("/usr/include")
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    yield "code", [*texts(code, ("**/*.h", same), ("c++/**/*", same)),
                   *texts(library, ("*.py", same), ("[a-s]*/**/*.py", same))]


def main():
    root, out = (pathlib.Path(path) for path in sys.argv[1:])
    for name, source in kinds(root):
        documents = [text for text in source if len(text) > 40]
        random.Random(5).shuffle(documents)
        size = 0
        with open(out / f"{name}.jsonl", "w", encoding="utf-8", newline="\n") as file:
            for text in documents:
                if size < LARGEST:
                    file.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
                    size += len(text.encode())
        print(name, len(documents), "documents", size, "bytes")


main()
