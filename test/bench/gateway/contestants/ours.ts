import { changeEntityLimits } from '../../../../db/accounts/limits.ts'
import type { Pool } from '../../../../db/pool.ts'
import { announceEngine } from '../../../support/fake-engine.ts'
import type { StackHandle } from '../../../support/global-setup.ts'
import { withBenchServer, type BenchServer } from '../../bench-server.ts'
import { readPostgresPid } from '../../postgres-pid.ts'
import { listPostgres, listTree } from '../processor.ts'
import { workloadNames } from '../workloads.ts'
import type { Contestant, EngineAddress } from './contestant.ts'

const baseModel = 'bench-model'
const manyModels = 1_000
// The limits are set so that they are checked, and are higher than any measured load.
const limits = { requestsPerMinute: 10_000_000, concurrentStreams: 5_000 }

interface OurPlace {
  stack: StackHandle
  engine: EngineAddress
  nodeOptions: string[]
  root?: string
}

type Work<T> = (found: Contestant[]) => Promise<T>

/** The real apiserver with its Postgres, with a key, limits and usage, and one or a thousand trained models. */
export async function withOurs<T>({ stack, engine, nodeOptions, root }: OurPlace, work: Work<T>): Promise<T> {
  const postgresPid = await readPostgresPid(stack)
  const measure = async (server: BenchServer) => {
    const { pool, namespace, kubectl, entity } = server
    await announceEngine({ pool, namespace, kubectl, address: engine.host, baseModel })
    await changeEntityLimits(pool, entity, limits)
    await addTrainedModels(pool, entity)
    return work(describe(server, postgresPid))
  }
  // The others do nothing else either.
  const env = { TRAINYARD_GROUPS: 'inference' }
  return withBenchServer(stack, measure, { nodeOptions, env, ...(root && { root }) })
}

function describe(server: BenchServer, postgresPid: number): [Contestant, Contestant] {
  const { hostname, port } = new URL(server.url)
  const database = new URL(server.databaseUrl).pathname.slice(1)
  const names = Array.from({ length: manyModels }, (_, index) => nameModel(server.entity, index))
  const one: Contestant = {
    name: 'ours',
    host: hostname,
    port: Number(port),
    apiKey: server.apiKey,
    models: names.slice(0, 1),
    listProcesses: () => ({ own: listTree(server.pid), postgres: listPostgres(postgresPid, database) }),
    workloads: workloadNames,
    share: 1,
  }
  return [one, { ...one, name: 'ours_1000_models', models: names, workloads: ['4kb'] }]
}

function nameModel(entity: string, index: number): string {
  return `wandb-artifact:///${entity}/bench/model-${index}:step1`
}

/** Adds rows of trained models, each with one checkpoint. The mock engine accepts any name. */
async function addTrainedModels(pool: Pool, entity: string): Promise<void> {
  await pool.query(
    `WITH models AS (
       INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, resource_created_at, last_step)
       SELECT $1, 'bench', 'model-' || n, $2, 'elsewhere', 'model-' || n, now(), 1 FROM generate_series(0, $3 - 1) n
       RETURNING id)
     INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics)
     SELECT gen_random_uuid(), id, 1, 'artifact:///checkpoints/x', '00', '{}' FROM models`,
    [entity, baseModel, manyModels],
  )
  await pool.query('ANALYZE training.models, training.checkpoints')
}
