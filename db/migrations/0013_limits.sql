-- A limit that was set to none is Infinity, which no integer has. Null stays what it was: the installation's default holds.
ALTER TABLE auth.entities
  ALTER COLUMN requests_per_minute TYPE double precision,
  ALTER COLUMN concurrent_streams TYPE double precision,
  ALTER COLUMN queued_jobs TYPE double precision,
  ALTER COLUMN stored_bytes TYPE double precision,
  ADD COLUMN event_streams double precision CHECK (event_streams >= 0),
  -- How many turns it has, against others' one, where they wait for the same.
  ADD COLUMN weight double precision CHECK (weight BETWEEN 1 AND 100);
