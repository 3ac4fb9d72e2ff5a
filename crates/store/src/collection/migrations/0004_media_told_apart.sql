-- Which medium a run is of, where its sender lets media be told apart: a keyed hash of the serial number.
ALTER TABLE runs ADD COLUMN medium_key TEXT;
