-- Each sender has one voice (docs/collection.md). `sender` is the account or the token a run came by; runs of one's own machine have none.
ALTER TABLE runs ADD COLUMN sender TEXT;
UPDATE runs SET sender = (SELECT v.who FROM revisions v WHERE v.run = runs.number AND v.revision = 1);
UPDATE runs SET sender = NULL WHERE sender = 'flashmark';
-- A bit for each figure on which enough senders agree, and those that agree on other figures, as JSON.
ALTER TABLE lines ADD COLUMN confirmed BIGINT NOT NULL DEFAULT 9223372036854775807;
ALTER TABLE line_details ADD COLUMN apart TEXT;
-- By which a copy of a run is found again, under whatever name: the hash of its largest histograms, and their shapes in little.
ALTER TABLE runs ADD COLUMN latencies TEXT;
ALTER TABLE runs ADD COLUMN sketch TEXT;
CREATE INDEX runs_by_latencies ON runs (latencies);
