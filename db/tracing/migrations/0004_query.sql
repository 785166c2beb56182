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
