-- What a collection consists of. Plain SQL that SQLite and PostgreSQL both read; docs/collection.md explains each table.
-- Truth values are 0 and 1. Texts are ordered by their bytes.

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
    latest TEXT NOT NULL,
    random_write_4k DOUBLE PRECISION,
    worst_stall DOUBLE PRECISION,
    random_write_512 DOUBLE PRECISION,
    random_write_16k DOUBLE PRECISION,
    random_write_64k DOUBLE PRECISION,
    sequential_write DOUBLE PRECISION,
    random_read_4k DOUBLE PRECISION,
    sequential_read DOUBLE PRECISION,
    random_fill DOUBLE PRECISION,
    zero_fill DOUBLE PRECISION
);
CREATE UNIQUE INDEX lines_by_model ON lines (kind, vendor, model, capacity_gb, origin, is_fake);

-- What a line has beside what it is sorted and filtered by. Apart, so that a look through all lines stays short.
CREATE TABLE line_details (
    line BIGINT PRIMARY KEY REFERENCES lines (number),
    verdict TEXT,
    figures TEXT NOT NULL
);

-- Lines in any order, either way round; what has no figure comes last.
CREATE INDEX lines_name ON lines (name_folded, slug);
CREATE INDEX lines_name_falling ON lines (name_folded DESC, slug);
CREATE INDEX lines_capacity ON lines (capacity_gb, slug);
CREATE INDEX lines_capacity_falling ON lines (capacity_gb DESC, slug);
CREATE INDEX lines_runs ON lines (runs, slug);
CREATE INDEX lines_runs_falling ON lines (runs DESC, slug);
CREATE INDEX lines_latest ON lines (latest, slug);
CREATE INDEX lines_latest_falling ON lines (latest DESC, slug);
CREATE INDEX lines_random_write_4k_most ON lines ((random_write_4k IS NULL), random_write_4k DESC, slug);
CREATE INDEX lines_random_write_4k_least ON lines ((random_write_4k IS NULL), random_write_4k, slug);
CREATE INDEX lines_worst_stall_most ON lines ((worst_stall IS NULL), worst_stall DESC, slug);
CREATE INDEX lines_worst_stall_least ON lines ((worst_stall IS NULL), worst_stall, slug);
CREATE INDEX lines_random_write_512_most ON lines ((random_write_512 IS NULL), random_write_512 DESC, slug);
CREATE INDEX lines_random_write_512_least ON lines ((random_write_512 IS NULL), random_write_512, slug);
CREATE INDEX lines_random_write_16k_most ON lines ((random_write_16k IS NULL), random_write_16k DESC, slug);
CREATE INDEX lines_random_write_16k_least ON lines ((random_write_16k IS NULL), random_write_16k, slug);
CREATE INDEX lines_random_write_64k_most ON lines ((random_write_64k IS NULL), random_write_64k DESC, slug);
CREATE INDEX lines_random_write_64k_least ON lines ((random_write_64k IS NULL), random_write_64k, slug);
CREATE INDEX lines_sequential_write_most ON lines ((sequential_write IS NULL), sequential_write DESC, slug);
CREATE INDEX lines_sequential_write_least ON lines ((sequential_write IS NULL), sequential_write, slug);
CREATE INDEX lines_random_read_4k_most ON lines ((random_read_4k IS NULL), random_read_4k DESC, slug);
CREATE INDEX lines_random_read_4k_least ON lines ((random_read_4k IS NULL), random_read_4k, slug);
CREATE INDEX lines_sequential_read_most ON lines ((sequential_read IS NULL), sequential_read DESC, slug);
CREATE INDEX lines_sequential_read_least ON lines ((sequential_read IS NULL), sequential_read, slug);
CREATE INDEX lines_random_fill_most ON lines ((random_fill IS NULL), random_fill DESC, slug);
CREATE INDEX lines_random_fill_least ON lines ((random_fill IS NULL), random_fill, slug);
CREATE INDEX lines_zero_fill_most ON lines ((zero_fill IS NULL), zero_fill DESC, slug);
CREATE INDEX lines_zero_fill_least ON lines ((zero_fill IS NULL), zero_fill, slug);

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
    verdict TEXT,
    random_write_4k DOUBLE PRECISION,
    worst_stall DOUBLE PRECISION,
    random_write_512 DOUBLE PRECISION,
    random_write_16k DOUBLE PRECISION,
    random_write_64k DOUBLE PRECISION,
    sequential_write DOUBLE PRECISION,
    random_read_4k DOUBLE PRECISION,
    sequential_read DOUBLE PRECISION,
    random_fill DOUBLE PRECISION,
    zero_fill DOUBLE PRECISION
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
