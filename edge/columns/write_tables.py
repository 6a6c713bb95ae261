"""Tables for column_stream_test.cc: python3 write_tables.py FOLDER"""

import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]


def path(name):
    return os.path.join(folder, name)


def arrow_file(name, table, batch=3):
    with pa.OSFile(path(name), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch)


def arrow_stream(name, table, batch=3, options=None):
    with pa.OSFile(path(name), "wb") as sink:
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=batch)


texts = ["a", None, "", "\"\\\n\t\x00\x1f", "한 é 😀", "last"]
plain = pa.table({"id": list(range(6)), "text": texts})
for name, codec in [("snappy", "snappy"), ("gzip", "gzip"), ("zstd", "zstd"), ("none", "none")]:
    pq.write_table(plain, path(name + ".parquet"), compression=codec, row_group_size=4)
pq.write_table(plain, path("v2.parquet"), data_page_version="2.0", use_dictionary=False)
arrow_file("file.arrow", plain)
arrow_stream("stream.arrow", plain)
arrow_stream("lz4.arrow", plain, options=pa.ipc.IpcWriteOptions(compression="lz4"))
for name, kind in [("large", pa.large_string()), ("view", pa.string_view()),
                   ("dictionary", pa.dictionary(pa.int32(), pa.string()))]:
    if name == "dictionary":
        column = pa.array(texts).dictionary_encode()
    else:
        column = pa.array(texts, type=kind)
    arrow_stream(name + ".arrow", pa.table({"text": column}))

message = pa.struct([("role", pa.string()), ("content", pa.string()), ("n", pa.int64())])
chats = pa.table({
    "messages": pa.array([[{"role": "user", "content": "q\n", "n": 1},
                           {"role": "assistant", "content": "a", "n": None}], [], None],
                         type=pa.list_(message)),
    "text": ["x", "y", "z"],
    "tools": pa.array([None, [], None], type=pa.list_(pa.string())),
})
pq.write_table(chats, path("chats.parquet"))
arrow_stream("chats.arrow", chats)
many = pa.table({"text": [f"row {i}" for i in range(5000)]})
pq.write_table(many, path("many.parquet"), row_group_size=1500)
arrow_stream("many.arrow", many, batch=1000)

arrow_stream("indices.arrow", pa.table({"indices": pa.array([2, 0, 1], type=pa.uint64())}))
os.mkdir(path("chosen"))
arrow_stream("chosen/data.arrow", plain)
with open(path("chosen/state.json"), "w", encoding="utf-8") as file:
    file.write('{"_indices_data_files": [{"filename": "indices.arrow"}]}')
arrow_stream("numbers.arrow", pa.table({"text": [1, 2]}))
whole = open(path("snappy.parquet"), "rb").read()
for cut in (4, 20, len(whole) // 2, len(whole) - 5):
    with open(path(f"cut{cut}.parquet"), "wb") as file:
        file.write(whole[:cut])
with open(path("cut.list"), "w", encoding="utf-8") as file:
    file.write("".join(f"cut{cut}.parquet\n" for cut in (4, 20, len(whole) // 2, len(whole) - 5)))
