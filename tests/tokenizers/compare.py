#!/usr/bin/env python3
"""Compares the ids of `muster pack encode` with those of Hugging Face's tokenizers, document by document.

    compare.py MUSTER TOKENIZER.json FILE.jsonl...

Prints the documents, bytes, ids and differences of each file; exit status 1 where there is one.
"""

import array
import json
import pathlib
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

BATCH = 256
NAMED = 5  # documents that differ


def ours(muster, tokenizer, path, folder):
    """[ids of a document], in order."""
    out = pathlib.Path(folder) / (path.stem + ".i32")
    subprocess.run([muster, "pack", "encode", "--tokenizer", tokenizer, str(path), "--out", str(out)],
                   check=True, stdout=subprocess.DEVNULL)
    ids, counts = array.array("i"), array.array("I")
    ids.frombytes(out.read_bytes())
    counts.frombytes(out.with_name(out.name + ".len").read_bytes())
    at = 0
    for count in counts:
        yield list(ids[at:at + count])
        at += count


def main():
    muster, tokenizer, *paths = sys.argv[1:]
    theirs = Tokenizer.from_file(tokenizer)
    theirs.no_truncation()
    differences = 0
    for path in map(pathlib.Path, paths):
        with tempfile.TemporaryDirectory() as folder:
            texts = [json.loads(line)["text"] for line in path.open(encoding="utf-8", newline="\n")]
            mine = list(ours(muster, tokenizer, path, folder))
        wrong = int(len(mine) != len(texts))
        count = 0
        for i in range(0, len(texts), BATCH):
            batch = theirs.encode_batch_fast(texts[i:i + BATCH], add_special_tokens=False)
            for j, encoding in enumerate(batch, i):
                count += len(encoding.ids)
                if j < len(mine) and encoding.ids != mine[j]:
                    wrong += 1
                    if wrong <= NAMED:
                        print(f"{path}: document {j} differs", file=sys.stderr)
        size = sum(len(text.encode()) for text in texts)
        print(f"{path}: {len(texts)} documents, {size} bytes, {count} ids, {wrong} differences",
              flush=True)
        differences += wrong
    return min(differences, 1)


sys.exit(main())
