-- What running jobs have saved, at progress/<job>/<id> in the store: who takes a job over goes on from the newest of
-- its newest attempt. Rows go when their files are gone.
CREATE TABLE training.job_progress (
  job_id uuid NOT NULL REFERENCES training.jobs ON DELETE CASCADE,
  id uuid NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  attempt integer NOT NULL,
  step integer NOT NULL, -- gradient steps that are done
  digest text NOT NULL, -- sha256 of its manifest.json
  saved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (job_id, id)
);

-- Attempts that trainers gave back when they were stopped: these are no retries.
ALTER TABLE training.jobs ADD COLUMN releases integer NOT NULL DEFAULT 0;

-- When an attempt held its pod, so that those which hold it at the same time share its GPUs in what is charged. Of
-- earlier attempts that is not known, and they share with nobody.
ALTER TABLE training.job_attempts
  ADD COLUMN claimed_at timestamptz,
  ADD COLUMN ended_at timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE training.job_attempts ALTER COLUMN ended_at SET DEFAULT 'infinity';
CREATE INDEX job_attempts_by_pod ON training.job_attempts (pod, ended_at);

-- Trainers that are to be replaced: they finish what they hold, and get nothing more.
CREATE TABLE training.draining_trainers (
  pod uuid PRIMARY KEY,
  namespace text NOT NULL,
  base_model text NOT NULL -- the name of the resource
);
CREATE INDEX draining_trainers_by_base_model ON training.draining_trainers (namespace, base_model);
