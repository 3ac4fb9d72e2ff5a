"""Reads the data sets of `flashmark export --format dataset` into frames of pandas.

    import flashmark_dataset as dataset
    cells = dataset.read("cards", "cells", kinds=["sd"], since="2026-01", columns=["run_id", "iops"])
    cells.attrs["units"]["iops"]  # "1/s"

Needs pandas and pyarrow. Copy this file to where your own code is.
"""

import functools
import json
import operator
from pathlib import Path

import pyarrow
import pyarrow.dataset

TABLES = ("runs", "cells", "series", "histograms")
_PARTITIONS = pyarrow.dataset.partitioning(
    pyarrow.schema([("kind", pyarrow.string()), ("month", pyarrow.string())]), flavor="hive"
)


def read(folder, table, kinds=None, since=None, until=None, columns=None):
    """Rows of a table as a pandas.DataFrame.

    table: one of TABLES.
    kinds: kinds of media, such as ["sd", "usb"]; all without it.
    since, until: first and last month, such as "2026-11", both inclusive. Runs without a time are
        then left out.
    columns: names of columns to read; all without it, among them `kind` and `month`.

    The frame's attrs have "units" (a dict: column to unit, such as "B/s") and "schema" (the version
    of the record). Only files of the partitions that are asked for are read. Raises
    FileNotFoundError where the table is missing or empty.
    """
    source = _source(folder, table)
    found = source.to_table(columns=columns, filter=_partitions(kinds, since, until))
    frame = found.to_pandas()
    frame.attrs.update(_metadata(source))
    return frame


def units(folder, table):
    """Units of the numeric columns of a table: a dict of column to unit, such as "B/s"."""
    return _metadata(_source(folder, table))["units"]


def _source(folder, table):
    if table not in TABLES:
        raise ValueError(f"there is no table {table!r}; type one of {', '.join(TABLES)}")
    files = sorted(str(path) for path in (Path(folder) / table).glob("kind=*/month=*/part-*.parquet"))
    if not files:
        raise FileNotFoundError(f"{folder} has no rows of {table}; make it with flashmark export --format dataset")
    return pyarrow.dataset.dataset(files, format="parquet", partitioning=_PARTITIONS)


def _metadata(source):
    found = next(source.get_fragments()).metadata.metadata
    return {"schema": found[b"flashmark.schema"].decode(), "units": json.loads(found[b"flashmark.units"])}


def _partitions(kinds, since, until):
    field = pyarrow.dataset.field
    wanted = [field("kind").isin(list(kinds))] if kinds is not None else []
    if since is not None or until is not None:
        wanted.append(field("month") != "unknown")
    if since is not None:
        wanted.append(field("month") >= since)
    if until is not None:
        wanted.append(field("month") <= until)
    return functools.reduce(operator.and_, wanted) if wanted else None
