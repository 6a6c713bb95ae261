"""Renders conversations with Jinja itself, as transformers does.

    python3 render_chats.py TOKENIZER_CONFIG IN.jsonl > OUT.jsonl

IN has an object with "messages" a line; OUT is the same objects with "text".
"""

import json
import sys

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


def main():
    config_path, chats_path = sys.argv[1:]
    with open(config_path, encoding="utf-8") as file:
        source = json.load(file)["chat_template"]
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    template = environment.from_string(source)
    with open(chats_path, encoding="utf-8", newline="\n") as file:
        for line in file:
            chat = json.loads(line)
            chat["text"] = template.render(
                messages=chat["messages"], tools=None, documents=None,
                add_generation_prompt=False)
            sys.stdout.write(json.dumps(chat, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    main()
