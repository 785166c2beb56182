-- What the models of a base model are trained on. It stays when the BaseModel is deleted, because their checkpoints fit
-- nothing else.
CREATE TABLE training.base_model_sources (
  name text PRIMARY KEY, -- the canonical name
  trained_on jsonb NOT NULL -- of the spec: source and lora
);
