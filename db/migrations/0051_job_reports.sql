-- When the trainer of a running job last reported a start, a step or a save. Its heartbeats are no reports.
ALTER TABLE training.jobs ADD COLUMN reported_at timestamptz;
