-- The ended job whose input and settings this one has again. No foreign key: erasures remove jobs in any order.
ALTER TABLE training.jobs ADD COLUMN retry_of uuid;
