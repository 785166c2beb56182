-- The words of docs/glossary.md. Data stay as they are; processes of an earlier version do not know the new names.

-- Null: the custom resource is wanted, and was not created yet.
ALTER TABLE training.models RENAME COLUMN cr_made_at TO resource_created_at;
ALTER TABLE training.jobs RENAME COLUMN cr_made_at TO resource_created_at;
ALTER INDEX training.models_to_make RENAME TO models_without_resource;
ALTER INDEX training.jobs_to_make RENAME TO jobs_without_resource;

-- A deleted model: first its resources, adapters and files are removed, then its rows but for the tombstones.
ALTER TABLE training.models RENAME COLUMN cleared_at TO files_removed_at;
ALTER TABLE training.models RENAME COLUMN purged_at TO rows_removed_at;
ALTER INDEX training.models_to_purge RENAME TO models_to_remove;
-- A deleted checkpoint: its adapter and its files are removed.
ALTER TABLE training.checkpoints RENAME COLUMN purged_at TO files_removed_at;
ALTER INDEX training.checkpoints_to_purge RENAME TO checkpoints_to_remove;

-- What was removed from the artifact store of what is still there.
ALTER TABLE training.checkpoints RENAME COLUMN optimizer_gone_at TO optimizer_removed_at;
ALTER TABLE training.jobs RENAME COLUMN input_gone_at TO input_removed_at;

ALTER TABLE training.garbage RENAME COLUMN noted_at TO quarantined_at;

ALTER FUNCTION training.note_job_state() RENAME TO record_job_state;
ALTER FUNCTION training.note_model() RENAME TO record_model_change;
