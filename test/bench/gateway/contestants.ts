import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { enginePort } from '../../../crds/engine-address.ts'
import { childEnvironment } from '../../../local/config.ts'
import { ensureBenchPython } from '../../support/client-python.ts'
import { setLimits } from '../../support/entity-limits.ts'
import { announceEngine, randomAddress } from '../../support/fake-engine.ts'
import { findFreePort } from '../../support/free-port.ts'
import type { StackHandle } from '../../support/global-setup.ts'
import { withBenchServer, type BenchServer } from '../bench-server.ts'
import { withProgram } from '../program.ts'
import { listPostgres, listTree, readPostgresPid } from '../processes.ts'

const model = 'bench-model'
const manyModels = 1_000
// The limits are set so that they are checked, and are higher than any measured load.
const limits = { requestsPerMinute: 10_000_000, concurrentStreams: 5_000 }

/** A server between a client and the engine, or the engine itself. */
export interface Contestant {
  name: string
  url: string
  apiKey: string
  /** The name of the model that its clients request. */
  model: string
  /** The ids of all its processes. */
  listProcesses: () => number[]
  /** The one whose memory is measured. */
  pid?: number
  /** It gets one of so many requests. */
  divisor?: number
}

export type Work<T> = (found: Contestant) => Promise<T>

/** The mock engine in a process of its own, on an address that other programs are unlikely to use. */
export function withMockEngine<T>(work: Work<T>): Promise<T> {
  const host = randomAddress()
  const url = `http://${host}:${enginePort}`
  const args = [path.join(import.meta.dirname, 'mock-engine.ts'), host]
  const how = { command: process.execPath, args, env: childEnvironment({}), url, healthPath: '/v1/models' }
  return withProgram(how, () => work({ name: 'engine', url, apiKey: 'none', model, listProcesses: () => [] }))
}

/** A bare Node pipe without keys, limits or any parsing. */
export async function withPipe<T>(engine: Contestant, work: Work<T>): Promise<T> {
  const port = await findFreePort()
  const args = [path.join(import.meta.dirname, 'pipe-server.ts'), String(port), new URL(engine.url).hostname]
  const url = `http://127.0.0.1:${port}`
  const how = { command: process.execPath, args, env: childEnvironment({}), url, healthPath: '/v1/models' }
  return withProgram(how, ({ pid }) => work({ ...engine, name: 'pipe', url, listProcesses: () => listTree(pid) }))
}

// It must not connect to other hosts.
const litellmSettings = {
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  LITELLM_TELEMETRY: 'False',
  LITELLM_LOG: 'ERROR',
  LITELLM_MODE: 'PRODUCTION',
  DISABLE_ADMIN_UI: 'True',
  NO_DOCS: 'True',
}

/** LiteLLM's proxy in its cheapest form: one worker, a master key, no database and no budget. */
export async function withLitellm<T>(engine: Contestant, work: Work<T>): Promise<T> {
  const python = await ensureBenchPython(path.join('gateway', 'litellm'))
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-litellm-'))
  const [port, apiKey] = [await findFreePort(), 'sk-bench']
  const [url, file] = [`http://127.0.0.1:${port}`, path.join(folder, 'config.yaml')]
  const params = { model: `hosted_vllm/${model}`, api_base: `${engine.url}/v1`, api_key: 'none' }
  const config = {
    model_list: [{ model_name: model, litellm_params: params }],
    litellm_settings: { telemetry: false, num_retries: 0, request_timeout: 600 },
    general_settings: { master_key: apiKey },
  }
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify(config))
  const addressArgs = ['--host', '127.0.0.1', '--port', String(port), '--num_workers', '1', '--telemetry', 'False']
  const how = {
    command: python,
    args: [path.join(path.dirname(python), 'litellm'), '--config', file, ...addressArgs],
    env: childEnvironment({ ...litellmSettings, HOME: folder }),
    url,
    healthPath: '/health/liveliness',
  }
  const found = { name: 'litellm', url, apiKey, model, divisor: 20 }
  try {
    return await withProgram(how, ({ pid }) => work({ ...found, listProcesses: () => listTree(pid) }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The real apiserver with its Postgres, with a key, limits and usage, and a trained model among a thousand. */
export async function withOurs<T>(stack: StackHandle, engine: Contestant, work: Work<T>): Promise<T> {
  const postgresPid = await readPostgresPid(stack)
  const measure = async (server: BenchServer) => {
    const { pool, namespace, kubectl, entity, url, apiKey } = server
    const address = new URL(engine.url).hostname
    await announceEngine({ pool, namespace, kubectl, address, baseModel: model })
    await setLimits(pool, entity, limits)
    await addTrainedModels(server)
    const database = new URL(server.databaseUrl).pathname.slice(1)
    const listProcesses = () => [...listTree(server.pid), ...listPostgres(postgresPid, database)]
    const trained = `wandb-artifact:///${entity}/bench/model-0:step1`
    return work({ name: 'ours', url, apiKey, model: trained, listProcesses, pid: server.pid })
  }
  // The others do nothing else either.
  return withBenchServer(stack, measure, { TRAINYARD_GROUPS: 'inference' })
}

/** Adds rows of trained models, each with one checkpoint. The mock engine accepts any name. */
async function addTrainedModels({ pool, entity }: BenchServer): Promise<void> {
  await pool.query(
    `WITH models AS (
       INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, resource_created_at, last_step)
       SELECT $1, 'bench', 'model-' || n, $2, 'elsewhere', 'model-' || n, now(), 1 FROM generate_series(0, $3 - 1) n
       RETURNING id)
     INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics)
     SELECT gen_random_uuid(), id, 1, 'artifact:///checkpoints/x', '00', '{}' FROM models`,
    [entity, model, manyModels],
  )
  await pool.query('ANALYZE training.models, training.checkpoints')
}
