-- What a collection consists of. Plain SQL that SQLite and PostgreSQL both read; docs/collection.md explains each table.
-- Truth values are 0 and 1. Texts are ordered by their bytes.
-- `lines` and `runs` have a column for each headline figure too (migrations.rs adds them).

-- One row for each model, origin, and whether it is the fakes: what the table shows. Made from `runs`, in the transaction that changes them.
-- A row stays when its last run goes (runs = 0), so that its address never comes to mean something else.
CREATE TABLE lines (
    number BIGINT PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    vendor TEXT NOT NULL,
    model TEXT NOT NULL,
    capacity_gb BIGINT NOT NULL,
    origin TEXT NOT NULL,
    is_fake BIGINT NOT NULL,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL,
    interface TEXT,
    classes TEXT NOT NULL,
    runs BIGINT NOT NULL,
    fakes BIGINT NOT NULL,
    latest TEXT NOT NULL
);
CREATE UNIQUE INDEX lines_by_model ON lines (kind, vendor, model, capacity_gb, origin, is_fake);

-- What a line has beside what it is sorted and filtered by. Apart, so that a look through all lines stays short.
CREATE TABLE line_details (
    line BIGINT PRIMARY KEY REFERENCES lines (number),
    verdict TEXT,
    figures TEXT NOT NULL
);

-- Lines in any order, either way round.
CREATE INDEX lines_name ON lines (name_folded, slug);
CREATE INDEX lines_name_falling ON lines (name_folded DESC, slug);
CREATE INDEX lines_capacity ON lines (capacity_gb, slug);
CREATE INDEX lines_capacity_falling ON lines (capacity_gb DESC, slug);
CREATE INDEX lines_runs ON lines (runs, slug);
CREATE INDEX lines_runs_falling ON lines (runs DESC, slug);
CREATE INDEX lines_latest ON lines (latest, slug);
CREATE INDEX lines_latest_falling ON lines (latest DESC, slug);

-- One row for each submitted run, with what lines are made of. The run itself is in `revisions`.
CREATE TABLE runs (
    number BIGINT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    line BIGINT NOT NULL REFERENCES lines (number),
    standing TEXT NOT NULL,
    revision BIGINT NOT NULL,
    received TEXT NOT NULL,
    name TEXT NOT NULL,
    host TEXT,
    kernel TEXT,
    arch TEXT,
    board TEXT,
    reader TEXT,
    interface TEXT,
    classes TEXT NOT NULL,
    verdict TEXT
);
CREATE INDEX runs_of_line ON runs (line, standing, received, number);
CREATE INDEX runs_by_arrival ON runs (standing, received, number);

-- Every revision of every run: its published subset with model, origin and headline, as JSON compressed by zstd.
CREATE TABLE revisions (
    run BIGINT NOT NULL REFERENCES runs (number),
    revision BIGINT NOT NULL,
    content TEXT NOT NULL,
    received TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (run, revision)
);
CREATE INDEX revisions_by_content ON revisions (content);

-- Who may change what. Only the SHA-256 of a token is kept.
CREATE TABLE tokens (
    hash TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    run TEXT,
    label TEXT NOT NULL,
    created TEXT NOT NULL,
    revoked TEXT
);

-- What was done, by whom and why. Only ever added to: each row holds the hash of the one before it.
CREATE TABLE audit (
    number BIGINT PRIMARY KEY,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    run TEXT,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
);
