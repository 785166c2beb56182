/** For SQL: not over yet. */
export const unfinished = `NOT IN ('Succeeded', 'Failed', 'Cancelled')`

/**
 * For SQL: common table expressions behind one named `page`, which has `state` and `base_model`. They give `queue`: for
 * each Queued job of the page its `id`; `ahead`, the unfinished jobs of its model before it, and `first_ahead`, the
 * resource name of the first of them; and its `place` among the jobs that wait for a trainer of its base model, from 1,
 * where those that wait for their model do not count. It costs nothing when the page holds no Queued job.
 */
export const queueOfPage = `line AS (
    SELECT e.id, e.state, e.arrival, n.base_model, row_number() OVER model - 1 AS ahead,
      first_value(e.cr_name) OVER model AS first_ahead
    FROM training.jobs e JOIN training.models n ON n.id = e.model_id
    WHERE e.state ${unfinished} AND n.base_model IN (SELECT base_model FROM page WHERE state = 'Queued')
    WINDOW model AS (PARTITION BY e.model_id ORDER BY e.arrival)
  ), queue AS (
    SELECT id, ahead, first_ahead,
      count(*) FILTER (WHERE ahead = 0 AND state = 'Queued') OVER (PARTITION BY base_model ORDER BY arrival) AS place
    FROM line
  )`
