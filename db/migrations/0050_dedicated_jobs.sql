-- How a job is trained: by a warm trainer of its base model, or by pods of its own (a Job of Kubernetes), which can be
-- suspended, and queued by Kueue.
ALTER TABLE training.jobs
  ADD COLUMN mode text NOT NULL DEFAULT 'Warm' CHECK (mode IN ('Warm', 'Dedicated')),
  ADD COLUMN suspend boolean NOT NULL DEFAULT false, -- what its resource wants
  ADD COLUMN suspend_asked boolean, -- over REST, and not yet written into its resource
  ADD COLUMN queue_name text, -- Kueue's LocalQueue
  ADD COLUMN suspended_at timestamptz, -- since when it is wanted and its pods are gone
  ADD COLUMN suspended_seconds double precision NOT NULL DEFAULT 0; -- of earlier suspensions: no deadline counts them
ALTER TABLE training.base_models ADD COLUMN default_mode text NOT NULL DEFAULT 'Warm';

CREATE TRIGGER jobs_suspended AFTER UPDATE OF suspend, suspend_asked, suspended_at ON training.jobs
  FOR EACH ROW EXECUTE FUNCTION training.notify_changed('training_jobs');
