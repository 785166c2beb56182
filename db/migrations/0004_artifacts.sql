-- Uploaded data sets. A name stands for a row of immutable versions; files lie in the store by their content, once for
-- all versions of an entity that have them, at artifacts/<entity>/<sha256>.
CREATE TABLE training.artifacts (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  entity text NOT NULL,
  project text NOT NULL,
  name text NOT NULL,
  last_version integer NOT NULL DEFAULT -1, -- the highest ever given: never reused
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (entity, project, name)
);

CREATE TABLE training.artifact_versions (
  id uuid PRIMARY KEY,
  artifact_id uuid NOT NULL REFERENCES training.artifacts ON DELETE CASCADE,
  version integer NOT NULL,
  digest text NOT NULL, -- sha256 of its list of files and its metadata
  size bigint NOT NULL, -- of all files, in bytes
  files jsonb NOT NULL, -- [{path, digest, size}], by path
  metadata json NOT NULL, -- as it came: jsonb has no NUL in texts
  key_id uuid NOT NULL, -- the key that uploaded it
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (artifact_id, version)
);

-- What lies at artifacts/<entity>/<digest>: files of versions, and data that were fetched for jobs.
CREATE TABLE training.blobs (
  entity text NOT NULL,
  digest text NOT NULL,
  size bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (entity, digest)
);

-- The input of an SFT job may be an address that is still to be resolved, or fetched into the store.
ALTER TABLE training.jobs
  ALTER COLUMN experimental_config TYPE json, -- as it came: jsonb has no NUL in texts
  ADD COLUMN input_tries integer NOT NULL DEFAULT 0, -- how often that was begun
  ADD COLUMN input_fault text; -- why the last time was in vain
DROP TRIGGER jobs_changed ON training.jobs;
CREATE TRIGGER jobs_changed AFTER INSERT OR UPDATE OF state, attempt, max_attempts, checkpoint_id, step, progress_step,
  progress_total, failure, namespace, cr_name, cr_made_at, started_at, finished_at, input_digest, input_fault
  ON training.jobs
  FOR EACH ROW EXECUTE FUNCTION training.notify_changed('training_jobs');
