-- What queries over traces ask of texts that clients have written.

-- The number that a text is, as a double; null for all that is none. No text makes it fail: what is too large is
-- infinite, what is too small is 0. A text of more than 1,000 characters is no number.
CREATE FUNCTION tracing.number_or_null(written text) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  exponent text;
  exact numeric;
BEGIN
  IF octet_length(written) > 1000
    OR written COLLATE "C" !~ '^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$' THEN
    RETURN NULL;
  END IF;
  -- Whatever is this short is neither too large nor too small.
  IF octet_length(written) <= 200 AND written COLLATE "C" !~ '[eE][+-]?[0-9]{3}' THEN
    RETURN written::float8;
  END IF;
  IF written COLLATE "C" !~ '^[^eE]*[1-9]' THEN
    RETURN 0;
  END IF;
  exponent := ltrim(substring(written FROM '[eE][+-]?([0-9]+)$'), '0');
  IF octet_length(exponent) > 4 THEN
    RETURN CASE WHEN written COLLATE "C" ~ '[eE]-' THEN 0::float8
      WHEN written LIKE '-%' THEN '-Infinity'::float8
      ELSE 'Infinity'::float8 END;
  END IF;
  exact := written::numeric;
  RETURN CASE WHEN abs(exact) >= 1.7976931348623158e308 THEN sign(exact) * 'Infinity'::float8
    WHEN abs(exact) <= 2.4703282292062327e-324 THEN 0
    ELSE exact::float8 END;
END $$;

-- A part of a reference, whose other characters stand as %XX. What is no UTF-8 is left as it is.
CREATE FUNCTION tracing.decode_ref_part(written text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF strpos(written, '%') = 0 THEN RETURN written; END IF;
  RETURN (
    SELECT convert_from(string_agg(coalesce(decode(found[1], 'hex'), convert_to(found[2], 'UTF8')), ''), 'UTF8')
    FROM regexp_matches(written, '%([0-9A-Fa-f]{2})|([^%]+|%)', 'g') AS found
  );
EXCEPTION WHEN OTHERS THEN
  RETURN written;
END $$;

-- A value, or what it refers to when it is a reference of an object of the project: the object or what lies in it at the
-- reference's path, which may lead through further references and rows of tables. Null where there is nothing.
CREATE FUNCTION tracing.look_through(of_project int, project_id text, held json) RETURNS json LANGUAGE plpgsql STABLE AS $$
DECLARE
  found json := held;
  uri text;
  prefix text := 'weave:///' || project_id || '/';
  parts text[];
  edges text[] := '{}';
  looks int := 0;
BEGIN
  LOOP
    uri := CASE WHEN json_typeof(found) = 'string' THEN found #>> '{}' END;
    IF starts_with(uri, prefix || 'object/') OR starts_with(uri, prefix || 'op/') THEN
      EXIT WHEN looks > 0 AND cardinality(edges) = 0;
      -- References may lead in circles.
      looks := looks + 1;
      IF looks > 16 THEN RETURN NULL; END IF;
      parts := string_to_array(substr(uri, length(prefix) + 1), '/');
      edges := parts[3:] || edges;
      SELECT v.val INTO found FROM tracing.object_versions v
        WHERE v.project = of_project AND v.kind = parts[1] AND v.deleted_at IS NULL
          AND v.object_id = tracing.decode_ref_part(split_part(parts[2], ':', 1)) AND v.digest = split_part(parts[2], ':', 2);
    ELSIF cardinality(edges) = 0 THEN
      EXIT;
    ELSE
      parts := ARRAY[edges[1], tracing.decode_ref_part(edges[2])];
      edges := edges[3:];
      IF parts[1] IN ('attr', 'key') AND json_typeof(found) = 'object' THEN
        found := found -> parts[2];
      ELSIF parts[1] = 'index' AND json_typeof(found) = 'array' AND parts[2] ~ '^[0-9]{1,9}$' THEN
        found := found -> parts[2]::int;
      ELSIF parts[1] = 'id' AND starts_with(uri, prefix || 'table/') THEN
        SELECT r.val INTO found FROM tracing.table_rows r WHERE r.project = of_project AND r.digest = parts[2];
      ELSE
        RETURN NULL;
      END IF;
    END IF;
    IF found IS NULL THEN RETURN NULL; END IF;
  END LOOP;
  RETURN found;
END $$;
