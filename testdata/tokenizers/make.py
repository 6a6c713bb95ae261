#!/usr/bin/env python3
"""Small vocabularies of each family of splits, and the ids that Hugging Face's library gives with them.

    python3 make.py         writes all files of this folder; README.md says with which library

All text is made here, by a fixed seed.
"""

import json
import pathlib
import random
import zlib

from tokenizers import AddedToken, Regex, Tokenizer, __version__, decoders, models, normalizers
from tokenizers import pre_tokenizers, trainers

CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = (CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BLANKS)
LLAMA3 = QWEN2.replace(r"\p{N}|", r"\p{N}{1,3}|")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORD = r"[^\r\n\p{L}\p{N}]?"
O200K = (f"{WORD}{UPPER}*{LOWER}+{CONTRACTION}?|{WORD}{UPPER}+{LOWER}*{CONTRACTION}?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + BLANKS)
DEEPSEEK = [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?"
            "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]

ENGLISH = """the of and to in a is that for it with as on be this are by not from at or which have an was they
will each step rank loss gradient checkpoint node token block memory network switch cable reading writing
waiting trainer trains training trained memory's don't it's we're they'll I'm you've he'd compute computes
distributed collective collectives reduce gather scatter broadcast barrier timeout interrupted restart
restarted restarting international understanding nevertheless throughput latency bandwidth""".split()
KOREAN = """학습 모델 토큰 블록 순위 단계 손실 기울기 저장 복구 노드 통신 대역폭 지연 시간 메모리 그래픽 연산 장치 데이터 문장
번역 안녕하세요 감사합니다 오늘은 날씨가 좋습니다 그리고 하지만 그래서 때문에 있습니다 없습니다 합니다 됩니다 했다 한다""".split()
PARTICLES = "은 는 이 가 을 를 에 에서 으로 로 와 과 의 도 만 부터 까지".split()
CHINESE = """训练 模型 令牌 数据 分布式 通信 梯度 损失 检查点 节点 网络 内存 带宽 延迟 时间 我们 他们 可以 不能 因为 所以 但是
如果 那么 这个 那个 一个 两个 开始 结束 恢复 保存 错误 正确 今天 天气 很好 谢谢 你好 世界 中国 语言""".split()
NAMES = "self step rank loss batch index count total size value result buffer stream token ids".split()


def word(chance):
    text = chance.choice(ENGLISH)
    return chance.choice([text, text, text, text.capitalize(), text.upper()])


def sentence(chance):
    kind = chance.randrange(6)
    if kind < 2:
        return " ".join(word(chance) for _ in range(chance.randint(3, 14))) + chance.choice(".!?,")
    if kind == 2:
        return " ".join(chance.choice(KOREAN) + chance.choice(PARTICLES + [""] * 4)
                        for _ in range(chance.randint(3, 9))) + "."
    if kind == 3:
        return "".join(chance.choice(CHINESE) + chance.choice([""] * 8 + ["，", "、", " "])
                       for _ in range(chance.randint(4, 14))) + "。"
    if kind == 4:
        a, b, c = (chance.choice(NAMES) for _ in range(3))
        return (f"    for {a}_{b} in range({chance.randrange(4096)}):\n"
                f"        self.{b}[{c}] += {a}_{b} * {chance.random():.4f}  # {word(chance)}\n"
                f"    if (!{c}.{a}()) return -1;\n\n")
    return f"{chance.randrange(10 ** chance.randint(1, 9))} {word(chance)} {chance.random():.3f}\t"


def corpus(seed, count):
    chance = random.Random(seed)
    return [" ".join(sentence(chance) for _ in range(chance.randint(1, 8))) for _ in range(count)]


def splits(patterns, behavior="isolated", invert=False):
    steps = [pre_tokenizers.Split(Regex(pattern), behavior, invert) for pattern in patterns]
    return pre_tokenizers.Sequence(
        steps + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def train(pre_tokenizer, normalizer, size):
    tokenizer = Tokenizer(models.BPE())
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False, min_frequency=2,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(corpus(1, 3000), trainer)
    return tokenizer


def by_rank(tokenizer, more):
    """The same vocabulary as files made from ranks have it: every pair that makes a token is a merge,
    entries of `more` are in it that no merge makes, and whole pieces are looked up first."""
    data = json.loads(tokenizer.to_str())
    vocab = data["model"]["vocab"]
    for text in more:
        spelled = "".join(t for t, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text))
        vocab.setdefault(spelled, len(vocab))
    merges = []
    for token, rank in sorted(vocab.items(), key=lambda item: item[1]):
        pairs = [(token[:i], token[i:]) for i in range(1, len(token))]
        pairs = [pair for pair in pairs if all(vocab.get(part, rank) < rank for part in pair)]
        if token not in more:
            merges += sorted(pairs, key=lambda pair: (vocab[pair[0]], vocab[pair[1]]))
    data["model"].update(merges=[list(pair) for pair in merges], ignore_merges=True)
    return Tokenizer.from_str(json.dumps(data))


def families():
    special = [AddedToken(t, special=True, normalized=False)
               for t in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")]
    plain = [AddedToken(t, special=False, normalized=False) for t in ("<think>", "</think>", "<|im|>")]
    tokenizer = train(splits([QWEN2]), normalizers.NFC(), 2000)
    tokenizer.add_tokens(special + plain)
    yield "qwen2", tokenizer
    tokenizer = by_rank(train(splits([LLAMA3]), None, 1400), ["Ġuntrained", "zzxyqq", "Việt"])
    tokenizer.add_tokens(special)
    yield "llama3", tokenizer
    tokenizer = by_rank(train(splits([O200K], "removed", True), None, 1400), ["ĠunTrained"])
    tokenizer.add_tokens(special)
    yield "o200k", tokenizer
    tokenizer = train(splits(DEEPSEEK), normalizers.Sequence([]), 2000)
    tokenizer.add_tokens([AddedToken("<｜begin▁of▁sentence｜>", special=True, normalized=False),
                          AddedToken("<｜User｜>", special=False, normalized=True),
                          AddedToken("<think>", special=False, normalized=True)])
    yield "deepseek_v3", tokenizer
    tokenizer = train(splits([QWEN2]), normalizers.NFC(), 600)
    tokenizer.add_tokens([AddedToken("caf\u00e9", special=False, normalized=True),
                          AddedToken("\u1100\u1161", special=False, normalized=False),
                          AddedToken("aa", special=False, normalized=True),
                          AddedToken("aaa", special=False, normalized=True)])
    yield "normalized", tokenizer


EDGES = [
    "", " ", "   ", "\n", "\r\n", "\t", "a", " a", "a ", "  a  ", "a\n", "\na", "a \n b", "a\n\n\nb", "a\r\n\r\nb",
    "a  \n  b", "a\n   \n   b", "!\n\n  x", "!!\r\n", " !x", "  !x", "\t!x", " !!x", "x!y", "x!!y", "(x)", " (x) ",
    "\"quoted\"", "don't", "DON'T", "don\u2019t", "it'\u017fx", "it'\u212a", "'s", "''s", "!'s", "x's's", "'sx", "'re'r",
    "we'RE", "I'LL'd", "'ve", "'v", "'", "''", "a'", "a'l", "1'st", "12345", "1", " 1", "  1", "1 2", "x1y", "3.14159",
    "1,000,000", "\u0661\u0662\u0663\u0664", "\u00bd\u2163x", "CamelCase", "HTTPServer", "XMLHttpRequest'S", "iPhone",
    "ABC", "ABCd", "aBC", "\u01c5x", "\u02b0\u02b1A", "\u0301", "a\u0301", "e\u0301A", " \u0301x", "!\u0301x", "\u0301\u0302",
    "x\u0301'\u0301", "caf\u00e9", "cafe\u0301", "cafe\u0301s", "\u1100\u1161\u11a8", "\u1100\u1161", "\uac00\u11a8",
    "\ud55c\uad6d\uc5b4 \ub2e8\uc5b4\ub97c", "\u4e2d\u6587\u5b57\u7b26", "\u4e2d\u6587\u30c6\u30b9\u30c8abc", "\u9fa6\u9fa5",
    "\u3000\u4e2d\u3000\u3000\u6587", "\u4e2d\uff0c\u6587\u3002", "a\u00a0b", "a \u00a0b", "\u00a0\u00a0b", "a\u2028b\u2029c",
    "a\u0085b", "\u200bx", "\u200b\u200bx y", "a\u200b", "\u200b1", "\ufeffabc", "\x00", "a\x00b\x1cc\x7f", "\x0b\x0c x",
    "\U0001f600", "\U0001f468\u200d\U0001f469", "x\U0001f600y", "\U0001f1f0\U0001f1f7 ", "\u0915\u094d\u0937\u093f", "\u0e01\u0e33",
    "\u05d0\u05b7\u05d1", "\ufb1d", "\u212b", "\u2126x", "\uf900", "\U0002f800", "\u0344", "\u0958", "\u0d46\u0d3e", "\U000110a5\U000110ba",
    "a\u0323\u0307", "a\u0307\u0323", "\U0001e947A", "\u1c89", "\U000323b0", "<|endoftext|>", "a<|im_end|>\u0301b", "<|im_start|>user\n",
    "<|im|>", "<|im_", "<<|im_end|>>", "<think>x</think>", "< think>", "<|im_end|><|im_end|>", "<\uff5cUser\uff5c>hi",
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>", "aaaaa", "untrained", " untrained", "zzxyqq", "zzxyqqa", "Vi\u1ec7t Nam", " unTrained",
    "https://example.org/a/b?c=d&e=f#g", "/usr/include/x.h\n", "//\n//", "a/b/\r\n/", "#include <x>", "$x_y[0]", "_x", "__init__",
    "%d\\n", "a+b=c", "x^2", "~~~", "\u20ac5", "\u00a7x", "\u00aax", "a" * 300, " " * 300, "\n" * 200, "=" * 150, "\uac00" * 90,
    "\u4e2d" * 120, "ab" * 200, "1" * 100, "\u0301" * 60, "'s" * 40, " x" * 60, "\t" * 70 + "x", "q7" * 80, "aA" * 60,
]


def sweep():
    """One document for each of many code points, in blocks."""
    points = [*range(0x3400), *range(0x3400, 0xD800, 13), *range(0xE000, 0xF900, 97),
              *range(0xF900, 0x10000), *range(0x10000, 0x20000, 3), *range(0x20000, 0x110000, 509)]
    return points, lambda c: f"a{c}b {c} {c}1{c}\n{c}'s!{c}"


def write(name, text):
    (pathlib.Path(__file__).parent / name).write_text(text, encoding="utf-8", newline="\n")


def main():
    assert __version__ == "0.22.2", __version__
    texts = EDGES + corpus(2, 60)
    write("texts.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
    points, document = sweep()
    for name, tokenizer in families():
        write(f"{name}.json", json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False,
                                         separators=(",", ":")) + "\n")
        ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        write(f"{name}.ids", "".join(" ".join(map(str, one)) + "\n" for one in ids))
        sums = []
        for i in range(0, len(points), 1024):
            batch = [document(chr(point)) for point in points[i:i + 1024]]
            data = b"".join(one.to_bytes(4, "little")
                            for e in tokenizer.encode_batch_fast(batch, add_special_tokens=False)
                            for one in e.ids)
            sums.append(f"{zlib.crc32(data):08x}")
        write(f"{name}.sums", "\n".join(sums) + "\n")
        print(name, tokenizer.get_vocab_size(), "ids")


main()
