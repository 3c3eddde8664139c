"""Write the same rows to each kind of table file."""

import gzip
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet


def columns_of(records):
    """Return the records as an Arrow table, in which missing keys are null."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.table({name: [record.get(name) for record in records] for name in names})


def parquet(path, records):
    pyarrow.parquet.write_table(columns_of(records), path)


def arrow(path, records):
    pyarrow.feather.write_feather(columns_of(records), path, compression="uncompressed")


def delimited(delimiter):
    def write(path, records):
        options = pyarrow.csv.WriteOptions(delimiter=delimiter)
        pyarrow.csv.write_csv(columns_of(records), path, options)

    return write


def json_lines(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


def json_array(path, records):
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")


def compressed(write):
    def write_gzip(path, records):
        write(path, records)
        path.write_bytes(gzip.compress(path.read_bytes()))

    return write_gzip


WRITERS = {
    "parquet": parquet,
    "arrow": arrow,
    "csv": delimited(","),
    "tsv": delimited("\t"),
    "semicolons": delimited(";"),
    "json lines": json_lines,
    "json array": json_array,
    "csv, gzip": compressed(delimited(",")),
    "json lines, gzip": compressed(json_lines),
    "parquet, gzip": compressed(parquet),
}
