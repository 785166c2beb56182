import type { Pool } from '../pool.ts'

/** Base models that need an engine at once: the payload is the name of the resource. */
export const engineDemandChannel = 'engine_demand'

// Gateways report again within a third of it.
const validSeconds = 15

/** A process of a gateway. */
export interface Gateway {
  process: string
  namespace: string
}

/** The requests that a gateway has for the engines of a base model. */
export interface EngineDemand {
  /** The name of the resource. */
  baseModel: string
  /** The most at once since the last report; above 0. */
  requests: number
  /** Whether it had none before. The operator is told at once. */
  isNew: boolean
}

/** Writes the requests of a gateway. Removes what processes have left that are gone. */
export async function reportEngineDemand(pool: Pool, gateway: Gateway, demands: EngineDemand[]): Promise<void> {
  const baseModels = demands.map(({ baseModel }) => baseModel)
  const requests = demands.map((demand) => demand.requests)
  await pool.query(
    `WITH left_over AS (
       DELETE FROM training.engine_demand WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM training.engine_demand WHERE expires_at < clock_timestamp() - interval '1 minute' AND process <> $1
         LIMIT 100 FOR UPDATE SKIP LOCKED))
     )
     INSERT INTO training.engine_demand AS d (process, namespace, base_model, requests, expires_at)
     SELECT $1, $2, base_model, requests, clock_timestamp() + make_interval(secs => ${validSeconds})
     FROM unnest($3::text[], $4::integer[]) AS given (base_model, requests) ORDER BY base_model
     ON CONFLICT (namespace, base_model, process)
     DO UPDATE SET requests = excluded.requests, expires_at = excluded.expires_at`,
    [gateway.process, gateway.namespace, baseModels, requests],
  )
  const fresh = demands.filter(({ isNew }) => isNew).map(({ baseModel }) => baseModel)
  if (fresh.length === 0) return
  await pool.query(
    `SELECT pg_notify('${engineDemandChannel}', base_model) FROM unnest($1::text[]) AS fresh (base_model)`,
    [fresh],
  )
}

/** Removes what a gateway has written that ends. */
export async function withdrawEngineDemand(pool: Pool, { process, namespace }: Gateway): Promise<void> {
  await pool.query('DELETE FROM training.engine_demand WHERE process = $1 AND namespace = $2', [process, namespace])
}

/** Counts the requests that all gateways have for the engines of a base model. */
export async function countEngineDemand(pool: Pool, namespace: string, baseModel: string): Promise<number> {
  const { rows } = await pool.query<{ requests: number }>(
    `SELECT coalesce(sum(requests), 0)::float8 AS requests FROM training.engine_demand
     WHERE namespace = $1 AND base_model = $2 AND expires_at > clock_timestamp()`,
    [namespace, baseModel],
  )
  return rows[0]?.requests ?? 0
}
