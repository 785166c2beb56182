-- The order of the jobs that wait for warm trainers: start-time fair queueing between entities (db/jobs/fair-order.ts).
ALTER TABLE training.jobs ADD COLUMN priority integer NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1000 AND 1000);

-- What an attempt has cost its entity so far, and the entity's weight then. Null: it did not wait for a warm trainer.
ALTER TABLE training.job_attempts
  ADD COLUMN queue_cost double precision,
  ADD COLUMN queue_weight double precision;

-- One row for each entity and base model since its first claim. Virtual times are GPU seconds divided by a weight.
CREATE TABLE training.entity_queues (
  entity text NOT NULL,
  base_model text NOT NULL,
  virtual_start double precision NOT NULL, -- of its newest job
  virtual_end double precision NOT NULL, -- of its newest job: its next one starts then, or later
  job_seconds double precision NOT NULL, -- GPU seconds of its recent attempts, on average
  weight double precision NOT NULL,
  PRIMARY KEY (entity, base_model)
);

-- Differences between what ended attempts have used and what they were charged. The entity's next claim adds them to its
-- row. They are rows of their own so that no end of a job locks the row of its entity.
CREATE TABLE training.queue_corrections (
  entity text NOT NULL,
  base_model text NOT NULL,
  gpu_seconds double precision NOT NULL,
  cost double precision NOT NULL
);
CREATE INDEX queue_corrections_by_queue ON training.queue_corrections (entity, base_model);
