-- What has to be done once in code, after all steps of the form (migrations.rs). Lines that were made before senders counted are made anew.
CREATE TABLE pending (what TEXT PRIMARY KEY);
INSERT INTO pending (what) VALUES ('lines');
-- Runs that were judged together and the standing each had, until that is undone. `deed` is the number of the deed in the audit.
CREATE TABLE bulk_judgements (
    deed BIGINT NOT NULL,
    run BIGINT NOT NULL REFERENCES runs (number),
    was TEXT NOT NULL,
    became TEXT NOT NULL,
    PRIMARY KEY (deed, run)
);
-- What came in within a day is asked for with submissions.
CREATE INDEX revisions_by_arrival ON revisions (received);
