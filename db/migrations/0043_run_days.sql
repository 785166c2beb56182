-- How many days runs are kept after their end, or after their last sign of life. Null: forever.
ALTER TABLE auth.entities ADD COLUMN run_days integer CHECK (run_days >= 0);
