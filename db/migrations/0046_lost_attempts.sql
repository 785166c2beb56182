-- The time in which reports of trainers could be recorded without a break. Leases expire only in such a time. After a
-- crash, or on another server, the table is empty, and the time begins anew.
CREATE UNLOGGED TABLE training.report_service (
  id integer PRIMARY KEY CHECK (id = 1), -- there is one row
  up_since timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);

-- An attempt whose lease has expired, until it is known why its trainer was lost, and so whether it counts as a try.
ALTER TABLE training.job_attempts ADD COLUMN lost_at timestamptz;
CREATE INDEX job_attempts_lost ON training.job_attempts (pod) WHERE lost_at IS NOT NULL;
