-- A job that is not claimed so long after its creation, or not trained so long after its first claim, fails.
ALTER TABLE training.jobs
  ADD COLUMN start_deadline_seconds integer,
  ADD COLUMN active_deadline_seconds integer;
