-- Why a job with pods of its own waits, as a reason, while more than the time that a pod takes to start keeps it.
ALTER TABLE training.jobs ADD COLUMN waiting_reason text;
