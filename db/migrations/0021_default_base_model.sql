-- Which base model answers chats that name none: spec.default of the BaseModel. Of several, the resource that was created
-- first. The operator writes both when it next sees the resource.
ALTER TABLE training.base_models
  ADD COLUMN is_default boolean NOT NULL DEFAULT false,
  ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
