-- Each request for a job counts the unfinished ones of its entity.
CREATE INDEX jobs_unfinished_of_entity ON training.jobs (entity) WHERE state NOT IN ('Succeeded', 'Failed', 'Cancelled');
