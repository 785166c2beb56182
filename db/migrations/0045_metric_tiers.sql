-- Gradient steps are numbered in their model, over all its jobs. Charts read the metrics of many of them from buckets of
-- 16, 256 and 4,096. A bucket is written when it is complete, and never changes.
ALTER TABLE training.events
  ADD COLUMN model_id uuid, -- of gradient steps only, as the others
  ADD COLUMN model_step integer, -- the step that the job makes
  ADD COLUMN model_index bigint; -- from 0, without gaps
CREATE UNIQUE INDEX events_by_model ON training.events (model_id, model_index) WHERE model_index IS NOT NULL;

CREATE TABLE training.metric_heads (
  model_id uuid PRIMARY KEY REFERENCES training.models,
  count bigint NOT NULL DEFAULT 0 -- of numbered gradient steps
);

CREATE TABLE training.metric_buckets (
  model_id uuid NOT NULL REFERENCES training.models,
  width integer NOT NULL,
  bucket bigint NOT NULL, -- index / width
  first_step integer NOT NULL,
  last_step integer NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  metrics jsonb NOT NULL, -- {KEY: [min, max, sum, last, count]}
  PRIMARY KEY (model_id, width, bucket)
);

-- The metrics of a gradient step in the form of buckets. Sums of larger numbers could exceed a double.
CREATE FUNCTION training.metrics_of_event(data jsonb) RETURNS TABLE (key text, value double precision)
LANGUAGE sql IMMUTABLE AS $$
  SELECT m.key, m.value::double precision FROM jsonb_each(data) AS m
  WHERE CASE WHEN jsonb_typeof(m.value) = 'number' THEN abs(m.value::numeric) < 1e290 ELSE false END
$$;

-- Writes the buckets that are complete since a model had `earlier` gradient steps.
CREATE FUNCTION training.fill_metric_buckets(model uuid, earlier bigint, now bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  wide integer;
BEGIN
  IF now / 16 > earlier / 16 THEN
    INSERT INTO training.metric_buckets
    SELECT model, 16, s.bucket, s.first_step, s.last_step, s.first_at, s.last_at, coalesce(v.metrics, '{}')
    FROM (
      SELECT model_index / 16 AS bucket, min(model_step) AS first_step, max(model_step) AS last_step,
        min(created_at) AS first_at, max(created_at) AS last_at
      FROM training.events
      WHERE model_id = model AND model_index >= earlier / 16 * 16 AND model_index < now / 16 * 16 GROUP BY 1
    ) AS s LEFT JOIN (
      SELECT bucket, jsonb_object_agg(key, jsonb_build_array(least, most, total, latest, values)) AS metrics FROM (
        SELECT e.model_index / 16 AS bucket, m.key, min(m.value) AS least, max(m.value) AS most, sum(m.value) AS total,
          (array_agg(m.value ORDER BY e.model_index DESC))[1] AS latest, count(*) AS values
        FROM training.events e, training.metrics_of_event(e.data) AS m
        WHERE e.model_id = model AND e.model_index >= earlier / 16 * 16 AND e.model_index < now / 16 * 16
        GROUP BY 1, 2
      ) AS keys GROUP BY bucket
    ) AS v USING (bucket)
    ON CONFLICT DO NOTHING;
  END IF;
  FOREACH wide IN ARRAY ARRAY[256, 4096] LOOP
    CONTINUE WHEN now / wide = earlier / wide;
    INSERT INTO training.metric_buckets
    SELECT model, wide, s.bucket, s.first_step, s.last_step, s.first_at, s.last_at, coalesce(v.metrics, '{}')
    FROM (
      SELECT bucket / 16 AS bucket, min(first_step) AS first_step, max(last_step) AS last_step,
        min(first_at) AS first_at, max(last_at) AS last_at
      FROM training.metric_buckets
      WHERE model_id = model AND width = wide / 16
        AND bucket >= earlier / wide * 16 AND bucket < now / wide * 16 GROUP BY 1
    ) AS s LEFT JOIN (
      SELECT bucket, jsonb_object_agg(key, jsonb_build_array(least, most, total, latest, values)) AS metrics FROM (
        SELECT b.bucket / 16 AS bucket, m.key, min((m.value->>0)::float8) AS least, max((m.value->>1)::float8) AS most,
          sum((m.value->>2)::float8) AS total,
          (array_agg((m.value->>3)::float8 ORDER BY b.bucket DESC))[1] AS latest, sum((m.value->>4)::bigint) AS values
        FROM training.metric_buckets b, jsonb_each(b.metrics) AS m
        WHERE b.model_id = model AND b.width = wide / 16
          AND b.bucket >= earlier / wide * 16 AND b.bucket < now / wide * 16
        GROUP BY 1, 2
      ) AS keys GROUP BY bucket
    ) AS v USING (bucket)
    ON CONFLICT DO NOTHING;
  END LOOP;
END
$$;

-- The first gradient step of a model that is not before a step, or not before a time. Both only grow.
CREATE FUNCTION training.find_metric_index(model uuid, total bigint, wanted_step bigint, wanted_at timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  low bigint := 0;
  high bigint := total;
  middle bigint;
  is_before boolean;
BEGIN
  WHILE low < high LOOP
    middle := (low + high) / 2;
    SELECT coalesce(model_step < wanted_step, created_at < wanted_at) INTO is_before
    FROM training.events WHERE model_id = model AND model_index = middle;
    IF coalesce(is_before, true) THEN low := middle + 1; ELSE high := middle; END IF;
  END LOOP;
  RETURN low;
END
$$;

-- The operator numbers the gradient steps of an earlier version, model by model: trainers report while this migration runs.
