-- The newest jobs that succeeded: the estimate of the start of a waiting job reads how long they took.
CREATE INDEX jobs_succeeded ON training.jobs (finished_at) WHERE state = 'Succeeded';
