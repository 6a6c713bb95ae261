"""The other side of bench/tokens.sh: how fast Hugging Face's library encodes a file of JSON lines."""

import json
import sys
import time

from tokenizers import Tokenizer

BATCH = 256

tokenizer = Tokenizer.from_file(sys.argv[1])
texts = [json.loads(line)["text"] for line in open(sys.argv[2], encoding="utf-8", newline="\n")]
megabytes = sum(len(text.encode()) for text in texts) / 1e6
wall, own = time.perf_counter(), time.process_time()
for i in range(0, len(texts), BATCH):
    tokenizer.encode_batch_fast(texts[i:i + BATCH], add_special_tokens=False)
wall, own = time.perf_counter() - wall, time.process_time() - own
print(f"  Hugging Face: {megabytes / wall:.2f} MB/s ({megabytes / own:.2f} MB a second of the processor)")
