-- Lines are filtered and sorted in memory (catalogue.rs), so no order needs an index any more; each cost every submission a write.
-- `changed` is the number in the audit of the last deed that changed a line: who has seen all up to a number finds the rest by it.
ALTER TABLE lines ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX lines_changed ON lines (changed);
DROP INDEX lines_name;
DROP INDEX lines_name_falling;
DROP INDEX lines_capacity;
DROP INDEX lines_capacity_falling;
DROP INDEX lines_runs;
DROP INDEX lines_runs_falling;
DROP INDEX lines_latest;
DROP INDEX lines_latest_falling;
