"""Opens what `flashmark export` wrote as its readers do: DuckDB, pandas, and the parsers of Prometheus. Arguments: the directory with the exports, the number of cells of the run, the top of
the checkout. Ends with 0 where each of them finds what is there."""

import csv
import datetime
import os
import re
import sys
from pathlib import Path

import duckdb
import pandas
import prometheus_client.openmetrics.parser
import prometheus_client.parser

folder, cells, checkout = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
sys.dont_write_bytecode = True


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: found {found!r}, expected {wanted!r}")
    print(f"{what}: {found!r}")


with open(folder / "cells.csv", newline="") as text:
    rows = list(csv.DictReader(text))
iops = sorted(float(row["iops"]) for row in rows if row["iops"])
expect("csv: rows", len(rows), cells)

joined = duckdb.sql(
    f"SELECT r.started, r.run_id, c.flag_names, c.iops FROM '{folder}/parquet/cells.parquet' c "
    f"JOIN '{folder}/parquet/runs.parquet' r USING (run_id)"
).fetchall()
expect("DuckDB: rows of the join", len(joined), cells)
expect("DuckDB: IOPS as in CSV", sorted(row[3] for row in joined if row[3] is not None), iops)
expect("DuckDB: times are times", all(row[0] is None or isinstance(row[0], datetime.datetime) for row in joined), True)
expect("DuckDB: flags are lists", all(row[2] is None or isinstance(row[2], list) for row in joined), True)
metadata = dict(duckdb.sql(
    f"SELECT decode(key), decode(value) FROM parquet_kv_metadata('{folder}/parquet/runs.parquet')"
).fetchall())
expect("DuckDB: form of the record", metadata["flashmark.schema"], "flashmark/1")

frame = pandas.read_parquet(folder / "parquet/cells.parquet")
expect("pandas: rows", len(frame), cells)
expect("pandas: IOPS as in CSV", sorted(frame["iops"].dropna()), iops)

text = (folder / "figures.prom").read_text()
families = list(prometheus_client.openmetrics.parser.text_string_to_metric_families(text))
expect("OpenMetrics: all are gauges", {family.type for family in families}, {"gauge"})
expect("OpenMetrics: no times", [s for family in families for s in family.samples if s.timestamp], [])
plain = list(prometheus_client.parser.text_string_to_metric_families(text))
expect("text for node_exporter: the same", [f.samples for f in plain], [f.samples for f in families])

os.chdir(folder)
queries = re.findall(r"^```sql\n(.*?)^```", (checkout / "docs/analysis.md").read_text(), re.M | re.S)
expect("docs/analysis.md: views and questions", len(queries), 4)
duckdb.sql(queries[0])
answers = [duckdb.sql(query).df() for query in queries[1:]]
expect("the slow card", list(answers[0]["model_name"]), ["b4"])
expect("A1 reaches A1", [list(answers[1]["model_name"]), bool(answers[1]["reaches_a1"].all())], [["a32"], True])
readers = dict(zip(answers[2]["reader"], answers[2]["share_of_best"]))
expect("the slow reader", readers, {"Slow Reader": 0.5, "host slot": 1.0})
