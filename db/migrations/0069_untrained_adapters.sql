-- The adapter that training starts from: its address in the store, and its files as those of a version. A trainer stores it.
ALTER TABLE training.base_model_sources ADD COLUMN untrained_adapter jsonb;

-- Step 0 of a model is a version too. It has the model's id, and the number before that of the first checkpoint.
CREATE OR REPLACE VIEW training.versions AS
SELECT v.id, a.id AS collection_id, a.entity, a.project, a.name, a.type, a.description AS collection_description,
  false AS is_checkpoint, v.version, v.manifest_digest, v.size, v.files, v.metadata, v.description, v.tags, v.run_name,
  v.client_id, v.created_at, v.updated_at,
  NOT EXISTS (
    SELECT FROM training.artifact_versions w WHERE w.artifact_id = a.id AND w.version > v.version) AS is_latest,
  ARRAY(SELECT s.alias FROM training.artifact_aliases s WHERE s.version_id = v.id ORDER BY s.alias) AS aliases
FROM training.artifact_versions v JOIN training.artifacts a ON a.id = v.artifact_id
WHERE NOT EXISTS (
  SELECT FROM training.models m WHERE m.entity = a.entity AND m.project = a.project AND m.name = a.name
    AND m.deleted_at IS NULL AND m.hidden_at IS NULL)
UNION ALL
SELECT c.id, m.id, m.entity, m.project, m.name, 'lora', NULL,
  true, c.version, s.digest,
  coalesce((SELECT sum((file->>'size')::bigint)::bigint FROM jsonb_array_elements(s.files) AS file), c.bytes, 0),
  -- Trainers write these files. Their digests and sizes are found when somebody reads them.
  coalesce(s.files, jsonb_build_array(
    jsonb_build_object('path', 'adapter_config.json', 'size', 0, 'key', 'checkpoints/' || c.id || '/adapter_config.json'),
    jsonb_build_object('path', 'adapter_model.safetensors', 'size', 0,
      'key', 'checkpoints/' || c.id || '/adapter_model.safetensors'))),
  coalesce(s.metadata, '{}'::json), s.description, coalesce(s.tags, '{}'), s.run_name, s.client_id, c.created_at, s.updated_at,
  NOT EXISTS (
    SELECT FROM training.checkpoints d WHERE d.model_id = m.id AND d.deleted_at IS NULL AND d.step > c.step),
  ARRAY(
    SELECT l.alias FROM training.aliases l WHERE l.model_id = m.id AND l.step = c.step
    -- Another checkpoint may have taken this one's alias.
    UNION SELECT 'step' || c.step WHERE NOT EXISTS (
      SELECT FROM training.aliases l WHERE l.model_id = m.id AND l.alias = 'step' || c.step)
    ORDER BY 1)
FROM training.checkpoints c JOIN training.models m ON m.id = c.model_id
LEFT JOIN training.checkpoint_versions s ON s.checkpoint_id = c.id
WHERE c.deleted_at IS NULL AND m.deleted_at IS NULL AND m.hidden_at IS NULL
UNION ALL
SELECT m.id, m.id, m.entity, m.project, m.name, 'lora', NULL, true, -1, NULL,
  (SELECT sum((file->>'size')::bigint)::bigint FROM jsonb_array_elements(s.untrained_adapter->'files') AS file),
  s.untrained_adapter->'files', '{}'::json, NULL, '{}', NULL, NULL, m.created_at, NULL::timestamptz,
  NOT EXISTS (SELECT FROM training.checkpoints c WHERE c.model_id = m.id AND c.deleted_at IS NULL),
  CASE WHEN EXISTS (SELECT FROM training.aliases l WHERE l.model_id = m.id AND l.alias = 'step0')
    THEN '{}' ELSE ARRAY['step0'] END
FROM training.models m JOIN training.base_model_sources s ON s.name = m.base_model
WHERE s.untrained_adapter IS NOT NULL AND m.deleted_at IS NULL AND m.hidden_at IS NULL;
