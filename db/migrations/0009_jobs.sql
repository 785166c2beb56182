-- Whose a job is, beside the job: lists by entity and project walk an index, whatever other entities have.
ALTER TABLE training.jobs
  ADD COLUMN entity text,
  ADD COLUMN project text;
UPDATE training.jobs j SET entity = m.entity, project = m.project FROM training.models m WHERE m.id = j.model_id;
ALTER TABLE training.jobs
  ALTER COLUMN entity SET NOT NULL,
  ALTER COLUMN project SET NOT NULL;
CREATE FUNCTION training.set_job_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT entity, project INTO NEW.entity, NEW.project FROM training.models WHERE id = NEW.model_id;
  RETURN NEW;
END
$$;
CREATE TRIGGER jobs_owner BEFORE INSERT ON training.jobs FOR EACH ROW EXECUTE FUNCTION training.set_job_owner();
CREATE INDEX jobs_by_entity ON training.jobs (entity, arrival);
CREATE INDEX jobs_by_project ON training.jobs (entity, project, arrival);
CREATE INDEX jobs_by_state ON training.jobs (entity, state, arrival);

-- Failures tell whether another try may help.
UPDATE training.jobs SET failure = failure || jsonb_build_object('retryable', failure->>'category' <> 'User')
  WHERE failure IS NOT NULL AND NOT failure ? 'retryable';

-- Whoever waits for a job's events listens to this: one notification per job and statement.
CREATE FUNCTION training.notify_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('training_events', job_id::text) FROM (SELECT DISTINCT job_id FROM inserted) AS jobs;
  RETURN NULL;
END
$$;
CREATE TRIGGER events_inserted AFTER INSERT ON training.events REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION training.notify_events();
