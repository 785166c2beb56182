-- What a job's state does not tell: it trained on nothing, or on less than it was given, or a setting was passed over.
-- Lists of {code, message}, without duplicates; those of the creation come first.
ALTER TABLE training.jobs
  ADD COLUMN creation_warnings jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN training_warnings jsonb NOT NULL DEFAULT '[]'; -- of the newest attempt that has started to train

-- A job has a step once a checkpoint has it: the number in its row is only reserved, and may go to another job.
CREATE OR REPLACE FUNCTION training.note_job_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO training.outbox (entity, project, kind, subject_id, data)
  SELECT entity, project, 'training_job.' || lower(NEW.state), NEW.id, jsonb_build_object('id', NEW.id,
    'model_id', NEW.model_id, 'entity', entity, 'project', project, 'model_name', name, 'method', NEW.method,
    'state', NEW.state, 'attempt', NEW.attempt,
    'step', (SELECT c.step FROM training.checkpoints c WHERE c.job_id = NEW.id), 'failure', NEW.failure,
    'warnings', NEW.creation_warnings || NEW.training_warnings,
    'created_at', NEW.created_at, 'started_at', NEW.started_at, 'finished_at', NEW.finished_at)
  FROM training.models WHERE id = NEW.model_id;
  RETURN NULL;
END
$$;
