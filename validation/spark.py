"""Asks two questions of docs/analysis.md with Spark, and compares its answers with DuckDB's. By hand:

    pip install duckdb pyspark==3.5.*       (and Java 8, 11 or 17)
    python validation/spark.py DIR          (a data set of flashmark export --format dataset)
"""

import re
import sys
from pathlib import Path

import duckdb
from pyspark.sql import SparkSession

NUMBERS = (2, 7)
TABLES = ("runs", "cells")

text = (Path(__file__).parent.parent / "docs/analysis.md").read_text()
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
for table in TABLES:
    folder = f"{sys.argv[1]}/{table}"
    spark.read.parquet(folder).createOrReplaceTempView(table)
    duckdb.sql(f"CREATE VIEW {table} AS FROM read_parquet('{folder}/*/*/*.parquet', hive_partitioning = true)")

failed = False
for number in NUMBERS:
    query = re.search(rf"^## {number}\. .*?^```sql\n(.*?)^```", text, re.M | re.S)[1]
    there = [tuple(row) for row in spark.sql(query).collect()]
    here = duckdb.sql(query).fetchall()
    print(f"{number}: Spark {there}\n   DuckDB {here}")
    failed |= sorted(there) != sorted(here)
spark.stop()
sys.exit("Spark and DuckDB differ" if failed else 0)
