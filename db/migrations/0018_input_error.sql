-- The word of docs/glossary.md. Null, or why the last attempt to fetch the training data failed.
ALTER TABLE training.jobs RENAME COLUMN input_fault TO input_error;
