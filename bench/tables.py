"""Writes one log, JSON Lines on the way in, as every kind of table that pyarrow, pandas and polars make of it.

    python bench/tables.py log.jsonl FOLDER

Prints a JSON object: the versions, the files written, and what could not be written with why. A test holds the store
that each file gives against the one that the JSON Lines give.
"""

import json
import sys
from datetime import datetime
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

TEXT, BIG, WHOLE, REAL, YES = pa.string(), pa.int64(), pa.int32(), pa.float64(), pa.bool_()


def schema(text=TEXT, lists=pa.list_, time=pa.timestamp("us", "UTC"), whole=WHOLE, real=REAL, key=None):
    """The columns of the log; `text`, `lists` and `time` are how this file has them."""
    call = pa.struct([
        ("name", text),
        ("arguments", pa.struct([("id", BIG), ("q", text), ("deep", pa.struct([("k", lists(whole)), ("t", text)]))])),
        ("result", text),
        ("error", YES),
    ])
    turn = pa.struct([
        ("observation", text),
        ("action", text),
        ("tool_calls", lists(call)),
        ("reward", real),
        ("features", lists(real)),
        ("sampling", pa.struct([("temperature", real), ("top_p", real), ("top_k", whole)])),
    ])
    part = pa.struct([("score", real), ("weight", real)])
    segment = pa.struct([
        ("token_ids", lists(whole)),
        ("action_mask", lists(YES)),
        ("behaviour_logprobs", lists(pa.float32())),
    ])
    meta = pa.struct([
        ("s", text),
        ("n", whole),
        ("big", BIG),
        ("b", YES),
        ("f", real),
        ("l", lists(whole)),
        ("o", pa.struct([("x", text), ("y", whole)])),
    ])
    return pa.schema([
        ("episode_id", key or text),
        ("task_id", key or text),
        ("trial", whole),
        ("policy", key or text),
        ("ending", key or text),
        ("reward", real),
        ("rewards", pa.struct([("acc", part), ("fmt", part)])),
        ("started_at", time),
        ("cost", real),
        ("meta", meta),
        ("turns", lists(turn)),
        ("segments", lists(segment)),
    ])


def real(value, kind):
    """A value whose numbers are floats where the columns are: JSON writes 1e16 as a whole number."""
    if value is None:
        return None
    if pa.types.is_floating(kind):
        return float(value)
    if pa.types.is_struct(kind):
        return {name: real(v, kind.field(name).type) for name, v in value.items()}
    if pa.types.is_list(kind):
        return [real(v, kind.value_type) for v in value]
    return value


def timed(records, naive):
    """Their times as times, of the zone UTC or of none."""
    for record in records:
        text = record.get("started_at")
        time = None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))
        yield {**record, "started_at": time.replace(tzinfo=None) if time and naive else time}


def main(source, folder):
    folder = Path(folder)
    lines = Path(source).read_text(encoding="utf-8").split("\n")[:-1]
    whole = pa.struct(list(schema(time=TEXT)))
    records = [real(json.loads(line), whole) for line in lines]
    zoned, naive = list(timed(records, False)), list(timed(records, True))
    written, failed = [], {}

    def write(name, make):
        try:
            make(str(folder / name))
            written.append(name)
        except Exception as error:  # What one library cannot write is no finding about the reader.
            failed[name] = f"{type(error).__name__}: {error}"[:200]

    def table(**how):
        time = how.get("time")
        return pa.Table.from_pylist(naive if time is not None and time.tz is None else zoned, schema=schema(**how))

    plain = table()
    shapes = {
        "plain": lambda: plain,
        "large": lambda: table(text=pa.large_string(), lists=pa.large_list),
        "views": lambda: table(text=pa.string_view()),
        "dictionary": lambda: table(key=pa.dictionary(pa.int16(), TEXT)),
        "binary": lambda: table(text=pa.binary()),
        "naive": lambda: table(time=pa.timestamp("us")),
        "nanoseconds": lambda: table(time=pa.timestamp("ns", "UTC")),
        "zone": lambda: table(time=pa.timestamp("us", "Europe/Berlin")),
        "int64": lambda: table(whole=pa.int64()),
    }

    def ipc_file(made, path, codec=None, stream=False):
        options = ipc.IpcWriteOptions(compression=codec)
        open_writer = ipc.new_stream if stream else ipc.new_file
        with open_writer(path, made.schema, options=options) as writer:
            writer.write_table(made, max_chunksize=300)

    for shape, make in shapes.items():
        if shape != "views":  # pyarrow does not write nested ones to Parquet.
            write(f"pyarrow-{shape}.parquet", lambda path: pq.write_table(make(), path))
        for codec in (None, "lz4", "zstd"):
            write(f"pyarrow-{shape}-{codec}.arrow", lambda path: ipc_file(make(), path, codec))
        write(f"pyarrow-{shape}-stream.arrow", lambda path: ipc_file(make(), path, "lz4", stream=True))
    write("feather-default.arrow", lambda path: feather.write_feather(plain, path))
    write("pyarrow-v2.parquet", lambda path: pq.write_table(plain, path, data_page_version="2.0", compression="zstd"))
    write("pyarrow-row-groups.parquet", lambda path: pq.write_table(plain, path, row_group_size=97))

    frame = pd.DataFrame(zoned, columns=plain.schema.names)
    frame["trial"] = frame["trial"].astype("Int64")
    picked = frame.set_index(pd.Index([3 * i + i % 2 for i in range(len(frame))]))  # as after a filter
    arrow = plain.schema
    indexed = arrow.append(pa.field("__index_level_0__", pa.int64()))
    write("pandas.parquet", lambda path: frame.to_parquet(path, schema=arrow))
    write("pandas-inferred.parquet", lambda path: frame.to_parquet(path))
    write("pandas-index.parquet", lambda path: picked.to_parquet(path, schema=indexed))
    write("pandas-reset-index.parquet", lambda path: picked.reset_index().to_parquet(path))
    write("pandas-inferred.arrow", lambda path: frame.to_feather(path))

    for zone, made in (("UTC", zoned), (None, naive)):
        columns = {f.name: pl.from_arrow(pa.array([], type=f.type)).dtype for f in arrow}
        columns["started_at"] = pl.Datetime("us", zone)
        polar = pl.DataFrame(made, schema=columns)
        end = "naive" if zone is None else "zoned"
        write(f"polars-{end}.parquet", lambda path: polar.write_parquet(path))
        write(f"polars-{end}.arrow", lambda path: polar.write_ipc(path))
        write(f"polars-{end}-stream.arrow", lambda path: polar.write_ipc_stream(path))
        for codec in ("lz4", "zstd"):
            write(f"polars-{end}-{codec}.arrow", lambda path: polar.write_ipc(path, compression=codec))
        write(f"polars-{end}-oldest.arrow", lambda path: polar.write_ipc(path, compat_level=pl.CompatLevel.oldest()))
        write(f"polars-{end}-index.parquet", lambda path: polar.with_row_index().write_parquet(path))
        write(f"polars-{end}-index.arrow", lambda path: polar.with_row_index().write_ipc(path))
        words = polar.with_columns(pl.col("policy", "ending").cast(pl.Categorical))
        write(f"polars-{end}-categorical.arrow", lambda path: words.write_ipc(path))
        write(f"polars-{end}-categorical.parquet", lambda path: words.write_parquet(path))

    versions = {"pyarrow": pa.__version__, "pandas": pd.__version__, "polars": pl.__version__}
    print(json.dumps({"versions": versions, "written": written, "failed": failed}))


main(*sys.argv[1:])
