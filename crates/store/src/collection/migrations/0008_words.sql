-- One word for one thing: the status of a run, and the number of an event in the audit.
ALTER TABLE runs RENAME COLUMN standing TO status;
ALTER TABLE bulk_judgements RENAME COLUMN deed TO event;
