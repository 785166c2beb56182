import { newId } from '../../../apiserver/tracing/ids.ts'
import { addBaseModel, baseModel, type BenchServer } from '../bench-server.ts'
import { sendAll } from '../connection.ts'
import { fillProjects } from '../tracing/reads.ts'
import { writeComplete } from '../tracing/writes.ts'

export const callCount = 100_000
export const spanCount = 10_000
const payloadBytes = 20_000_000
const [jobs, stepsPerJob] = [100, 10_000]
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20)

/** The metrics of a run's gradient steps. A run has a chart for each. */
export const chartedKeys = [
  'reward',
  'loss',
  'entropy',
  'kl_div',
  'grad_norm',
  'clip_fraction',
  'num_trainable_tokens',
  'tokens_per_second',
] as const

/** The data of the pages, each in a project of its own: made when it is first asked for. Returns addresses. */
export function createData(server: BenchServer) {
  const addressOf = (project: string) => `${server.url}/${server.entity}/${project}`
  return {
    baseModel: once(() => addBaseModel(server)),
    /** A project with 100,000 calls. */
    calls: once(async () => {
      await fillProjects(server, { calls: callCount })
      return addressOf('calls')
    }),
    /** A run with a million gradient steps. */
    run: once(async () => {
      await fillRun(server)
      return `${addressOf('runs')}/runs/million`
    }),
    /** The first call of a trace of 10,000 calls, which are below earlier ones, some of them many levels deep. */
    trace: once(async () => `${addressOf('trace')}/weave/calls/${await sendTrace(server, 'trace', makeTree())}`),
    /** A call with an output of 20 MB. */
    payload: once(
      async () => `${addressOf('payload')}/weave/calls/${await sendTrace(server, 'payload', [makeLarge()])}`,
    ),
  }
}

export type BenchData = ReturnType<typeof createData>

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** A call as weave sends it when it has ended. */
interface SentCall {
  id: string
  parent_id: string | null
  op_name: string
  inputs: Record<string, unknown>
  output: unknown
  fromMs: number
  toMs: number
}

/** Sends the calls of a trace. Returns the id of the first. */
async function sendTrace(server: BenchServer, name: string, calls: readonly SentCall[]): Promise<string> {
  const project_id = `${server.entity}/${name}`
  const [trace_id, begin] = [newId(), Date.now() - 3_600_000]
  const batch = calls.map(({ fromMs, toMs, ...call }) => ({
    ...call,
    project_id,
    trace_id,
    started_at: new Date(begin + fromMs).toISOString(),
    ended_at: new Date(begin + toMs).toISOString(),
    exception: null,
    attributes: {},
    summary: { usage: { 'tiny-chat': { requests: 1, prompt_tokens: 12, completion_tokens: 4 } } },
  }))
  await sendAll(server.url, writeComplete(server, project_id, batch), { connections: 2 })
  return calls[0]!.id
}

function makeTree(): SentCall[] {
  const below = (limit: number) => Math.floor(Math.random() * limit)
  const calls: SentCall[] = []
  for (let index = 0; index < spanCount; index++) {
    // Half of the calls are below one of the last ten, so that the tree is deep in places.
    const parent = below(2) === 0 ? index - 1 - below(Math.min(10, index)) : below(index)
    calls.push({
      id: newId(),
      parent_id: index === 0 ? null : calls[parent]!.id,
      op_name: index === 0 ? 'root' : `op ${index}`,
      inputs: { index, text },
      output: text,
      fromMs: index,
      toMs: index === 0 ? spanCount + 100 : index + 1 + below(90),
    })
  }
  return calls
}

function makeLarge(): SentCall {
  const row = { name: 'a row of a large answer', score: 0.123456, tags: ['one', 'two'], text: text.slice(0, 300) }
  const count = Math.ceil(payloadBytes / JSON.stringify(row).length)
  const output = Array.from({ length: count }, (_, index) => ({ index, ...row }))
  return { id: newId(), parent_id: null, op_name: 'large', inputs: {}, output, fromMs: 0, toMs: 50 }
}

/** Writes a run with a million gradient steps, as a trainer's reports would leave it. */
async function fillRun({ pool, entity }: BenchServer): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, resource_created_at, last_step)
     VALUES ($1, 'runs', 'million', $2, 'elsewhere', 'million', now(), $3) RETURNING id`,
    [entity, baseModel, jobs],
  )
  const modelId = rows[0]!.id
  for (let job = 0; job < jobs; job++) await addJob(pool, modelId, job)
  await pool.query('INSERT INTO training.metric_heads (model_id, count) VALUES ($1, $2)', [modelId, jobs * stepsPerJob])
  await pool.query('VACUUM ANALYZE training.events, training.metric_buckets, training.jobs')
}

const members = chartedKeys.map((key, at) => `'${key}', sin(n / 40000.0 + ${at}) + random() - 0.5`).join()

async function addJob(pool: BenchServer['pool'], modelId: string, job: number): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO training.jobs (model_id, method, input_uri, input_digest, config, state, attempt, step, progress_step,
       progress_total, spec_digest, namespace, cr_name, resource_created_at, queued_at, claimed_at, started_at, trained_at,
       finished_at)
     VALUES ($1, 'RL', 'artifact:///payloads/x/y.json', '00', '{}', 'Succeeded', 1, $2, $3, $3, '00', 'elsewhere',
       'job-' || $2::integer, now(), now(), now(), now(), now(), now()) RETURNING id`,
    [modelId, job + 1, stepsPerJob],
  )
  const from = job * stepsPerJob
  await pool.query(
    `INSERT INTO training.events (job_id, seq, type, data, model_id, model_step, model_index)
     SELECT $1, n - $3::integer + 1, 'gradient_step', jsonb_build_object(${members}), $2, $4, n
     FROM generate_series($3::integer, $3::integer + $5::integer - 1) n`,
    [rows[0]!.id, modelId, from, job + 1, stepsPerJob],
  )
  await pool.query('SELECT training.fill_metric_buckets($1, $2, $3)', [modelId, from, from + stepsPerJob])
}
