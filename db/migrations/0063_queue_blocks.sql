-- Whose waiting jobs are not claimed (db/jobs/queue-blocks.ts). Running jobs go on.
CREATE TABLE training.queue_pauses (
  entity text NOT NULL, -- '*': all entities
  by_administrator boolean NOT NULL, -- of the installation; else by an admin of the entity
  paused_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (entity, by_administrator),
  CHECK (entity <> '*' OR by_administrator)
);

ALTER TABLE auth.entities
  ADD COLUMN gpu_seconds_per_day double precision CHECK (gpu_seconds_per_day >= 0);
-- Claims sum the GPU seconds of a day: those of chats are 0.
CREATE INDEX usage_of_gpus ON training.usage (entity, hour) INCLUDE (gpu_seconds) WHERE gpu_seconds > 0;
CREATE INDEX entities_with_gpu_limit ON auth.entities (entity) WHERE gpu_seconds_per_day IS NOT NULL;
