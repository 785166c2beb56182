-- A claim looks for what its pod holds already.
CREATE INDEX jobs_by_holder ON training.jobs (holder_pod) WHERE state IN ('Starting', 'Running');
