-- Faults of the medium of a run and levels of its uses, words with spaces between: a verdict names what most senders name (docs/collection.md).
ALTER TABLE runs ADD COLUMN claims TEXT NOT NULL DEFAULT '';
-- Sketches have the number of their samples now, and lines the name that most senders use.
DELETE FROM pending WHERE what IN ('marks', 'lines');
INSERT INTO pending (what) VALUES ('marks'), ('lines');
