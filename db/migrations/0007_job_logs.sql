-- Each attempt at a job: the pod that held it may still add to its log when it no longer does.
CREATE TABLE training.job_attempts (
  job_id uuid NOT NULL REFERENCES training.jobs ON DELETE CASCADE,
  attempt integer NOT NULL,
  pod uuid NOT NULL,
  log_seq integer NOT NULL DEFAULT -1, -- of the last line that the trainer sent: what it repeats is known
  log_lines integer NOT NULL DEFAULT 0,
  log_bytes integer NOT NULL DEFAULT 0,
  PRIMARY KEY (job_id, attempt)
);
INSERT INTO training.job_attempts (job_id, attempt, pod)
  SELECT id, attempt, holder_pod FROM training.jobs WHERE holder_pod IS NOT NULL;

CREATE TABLE training.job_logs (
  job_id uuid NOT NULL REFERENCES training.jobs ON DELETE CASCADE,
  attempt integer NOT NULL,
  seq integer NOT NULL, -- the trainer's own number; what is said about an attempt comes behind all of these
  at timestamptz NOT NULL,
  level text NOT NULL CHECK (level IN ('info', 'warn', 'error')),
  text text NOT NULL,
  PRIMARY KEY (job_id, attempt, seq)
);
