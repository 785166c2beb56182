-- Postgres has one lock for the commits of all transactions that notify, so that these wait for each other. A job notifies only where
-- somebody has to act.

-- The operator looks at a job. It need not do so for a new row, whose resource it watches, nor for a job that it has queued itself.
DROP TRIGGER jobs_changed ON training.jobs;
CREATE TRIGGER jobs_changed AFTER UPDATE OF state, attempt, max_attempts, checkpoint_id, step, progress_step, progress_total,
  failure, started_at, finished_at, input_digest, input_error ON training.jobs
  FOR EACH ROW WHEN (OLD.state <> 'Pending' OR NEW.state <> 'Queued')
  EXECUTE FUNCTION training.notify_changed('training_jobs');
-- It publishes the job's checkpoint at once.
CREATE TRIGGER job_trained AFTER UPDATE OF state ON training.jobs
  FOR EACH ROW WHEN (OLD.state <> 'Publishing' AND NEW.state = 'Publishing')
  EXECUTE FUNCTION training.notify_changed('training_publishing');

-- Status servers look for a job that waits: this one, or the next one of its model.
CREATE FUNCTION training.notify_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY training_queue;
  RETURN NULL;
END
$$;
CREATE TRIGGER queue_changed AFTER UPDATE OF state, attempt, max_attempts, failure, suspend, suspended_at ON training.jobs
  FOR EACH ROW
  WHEN (NEW.state = 'Queued' OR NEW.state <> OLD.state AND NEW.state IN ('Succeeded', 'Failed', 'Cancelled'))
  EXECUTE FUNCTION training.notify_queue();
