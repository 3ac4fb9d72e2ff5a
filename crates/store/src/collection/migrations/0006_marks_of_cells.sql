-- A mark for each large histogram of a run: a copy of one cell is found under any name, in any run.
DROP INDEX runs_by_latencies;
ALTER TABLE runs DROP COLUMN latencies;
CREATE TABLE run_marks (
    mark TEXT NOT NULL,
    run BIGINT NOT NULL REFERENCES runs (number),
    PRIMARY KEY (mark, run)
);
CREATE INDEX run_marks_by_run ON run_marks (run);
INSERT INTO pending (what) VALUES ('marks');
