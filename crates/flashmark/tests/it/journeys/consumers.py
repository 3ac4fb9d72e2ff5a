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
sys.path.insert(0, str(checkout / "deploy/python"))
sys.dont_write_bytecode = True
import flashmark_dataset


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
questions = re.findall(r"^## (.*?)$.*?^```sql\n(.*?)^```", (checkout / "docs/analysis.md").read_text(), re.M | re.S)
views = re.search(r"^```sql\n(CREATE VIEW.*?)^```", (checkout / "docs/analysis.md").read_text(), re.M | re.S)
expect("docs/analysis.md: questions", len(questions), 10)
duckdb.sql(views[1])
answers = []
for question, query in questions:
    answers.append(duckdb.sql(query).df())
    expect(f"DuckDB: {question}: an answer", len(answers[-1]) > 0, True)
    print(answers[-1].to_string())
expect("the slow card", list(answers[0]["model_name"]), ["b4"])
expect("A1 reaches A1", [list(answers[2]["model_name"]), bool(answers[2]["reaches_a1"].all())], [["a32"], True])
readers = dict(zip(answers[3]["reader"], answers[3]["share_of_best"]))
expect("the slow reader", readers, {"Slow Reader": 0.5, "host slot": 1.0})
expect("hosts of a model", list(answers[5]["hosts"]), [2])
months = duckdb.sql("SELECT DISTINCT kind, month FROM runs ORDER BY ALL").fetchall()
expect("DuckDB: partitions", months, [("sd", "2025-06"), ("sd", "2026-11"), ("usb", "2025-06")])

frame = flashmark_dataset.read("dataset", "cells", kinds=["sd"], since="2026-01", columns=["run_id", "iops", "kind"])
expect("flashmark_dataset: runs", frame["run_id"].nunique(), 2)
expect("flashmark_dataset: kinds", set(frame["kind"]), {"sd"})
expect("flashmark_dataset: units", [frame.attrs["units"][name] for name in ("iops", "bps")], ["1/s", "B/s"])
expect("flashmark_dataset: schema", frame.attrs["schema"], "flashmark/1")
sums = flashmark_dataset.read("dataset", "histograms").groupby(["run_id", "cell_id"])["count"].sum()
counted = flashmark_dataset.read("dataset", "cells").set_index(["run_id", "cell_id"])["latency_n"]
expect("histograms: as many as latency_n", bool((sums == counted.loc[sums.index]).all()), True)
expect("series: a unit of an axis", flashmark_dataset.units("dataset", "series"), {"x": "x_axis", "y": "y_axis"})
