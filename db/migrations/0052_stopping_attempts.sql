-- An attempt that was ended while its trainer worked on it: since when, until that trainer has dropped the job.
ALTER TABLE training.job_attempts ADD COLUMN stopping_since timestamptz;
CREATE INDEX job_attempts_stopping ON training.job_attempts (pod) WHERE stopping_since IS NOT NULL;
