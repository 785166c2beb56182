-- The PriorityClass of the pods of a job that has pods of its own.
ALTER TABLE training.jobs ADD COLUMN priority_class_name text;
