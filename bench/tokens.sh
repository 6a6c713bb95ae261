#!/bin/sh
# Bytes a second of the tokenizer as a multiple of Hugging Face's (encode_batch_fast, one thread), kind by
# kind, in turns: ours, theirs, ours.
#   MUSTER_TOKENIZERS=FOLDER MUSTER_CORPUS=FOLDER MUSTER_HF=PYTHON bench/tokens.sh [BENCH]
# tests/tokenizers/README.md says how the folders and the Python are made.
set -eu
bench=${1:-build/release/bench/tokens_bench}
tokenizer=${MUSTER_TOKENIZERS:?}/qwen3/tokenizer.json
export RAYON_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
for kind in en ko zh code; do
  file=${MUSTER_CORPUS:?}/$kind.jsonl
  "$bench" "$tokenizer" "$file" | tail -n 1
  "${MUSTER_HF:?}" "$(dirname "$0")/tokens_hf.py" "$tokenizer" "$file"
  "$bench" "$tokenizer" "$file" | tail -n 1
done
