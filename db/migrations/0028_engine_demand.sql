-- How many requests the gateways have for the engines of a base model, for the operator. A row says the most that a
-- process had at once since its last report. It says nothing after a crash, so that it needs no log.
CREATE UNLOGGED TABLE training.engine_demand (
  process uuid NOT NULL, -- of a gateway
  namespace text NOT NULL,
  base_model text NOT NULL, -- the name of the resource
  requests integer NOT NULL CHECK (requests > 0),
  expires_at timestamptz NOT NULL, -- a process that has requests reports again before it
  PRIMARY KEY (namespace, base_model, process)
);
CREATE INDEX engine_demand_expiry ON training.engine_demand (expires_at);
