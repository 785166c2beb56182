-- Why no trainer of a base model can begin, as a reason; null if one runs, or if they only need time.
ALTER TABLE training.base_models ADD COLUMN trainer_trouble text;
