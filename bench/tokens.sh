#!/bin/sh
# Bytes a second of one core of the tokenizer as a multiple of Hugging Face's (encode_batch_fast, one
# thread), kind by kind: five times ours and theirs in turns, and the median of the five ratios.
#   MUSTER_TOKENIZERS=FOLDER MUSTER_CORPUS=FOLDER MUSTER_HF=PYTHON bench/tokens.sh [BENCH]
# tests/tokenizers/README.md says how the folders and the Python are made.
set -eu
bench=${1:-build/release/bench/tokens_bench}
tokenizer=${MUSTER_TOKENIZERS:?}/qwen3/tokenizer.json
export RAYON_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
rate() { sed -n 's/.*(\([0-9.]*\) MB a second of the processor.*/\1/p'; }
for kind in en ko zh code; do
  file=${MUSTER_CORPUS:?}/$kind.jsonl
  for _ in 1 2 3 4 5; do
    ours=$("$bench" "$tokenizer" "$file" | rate)
    theirs=$("${MUSTER_HF:?}" "$(dirname "$0")/tokens_hf.py" "$tokenizer" "$file" | rate)
    echo "$ours $theirs"
  done | awk -v kind="$kind" '
    { ratio[NR] = $1 / $2; printf "%s: %.1f and %.3f MB a second of a core, %.1f x\n", kind, $1, $2, ratio[NR] }
    END {
      for (i = 1; i < NR; ++i)
        for (k = i + 1; k <= NR; ++k)
          if (ratio[k] < ratio[i]) { t = ratio[i]; ratio[i] = ratio[k]; ratio[k] = t }
      printf "%s: median %.1f x\n", kind, ratio[int((NR + 1) / 2)]
    }'
done
