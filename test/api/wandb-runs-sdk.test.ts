import { access, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey, useApiServer } from '../support/api-server.ts'
import { listArtFolders } from '../support/client-python.ts'
import { clientTimeoutMs, newProject, runPython } from '../support/client-scripts.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { readMetrics, valueOf } from '../support/metrics.ts'
import { ModelRows } from '../support/model-rows.ts'
import { limitCases } from '../support/random-cases.ts'
import { createRest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'

// Whole lives of runs by the unchanged SDK: see test/clients/wandb/runs.py.

const stack = await useOwnStack()
const metricsPort = await findFreePort()
const own = useApiServer({ TRAINYARD_METRICS_PORT: String(metricsPort) })

/** How often lines were rejected because their entity was full. */
async function countRejected(): Promise<number> {
  const labels = { route: '/files/{entity}/{project}/{run}/file_stream', status: '429' }
  return valueOf(await readMetrics(metricsPort), 'trainyard_http_requests_total', labels)
}

/**
 * Lets an entity have no room as soon as it has the run `full`, until the script has made the file and lines were rejected
 * after that.
 */
async function fillEntity(entity: string, file: string): Promise<void> {
  const { pool } = own.database
  await eventually(async () => {
    const found = await pool.query("SELECT FROM training.runs WHERE entity = $1 AND name = 'full'", [entity])
    if (found.rowCount === 0) throw new Error('the run has not begun')
  }, clientTimeoutMs)
  await setLimits(pool, entity, { storedBytes: 1 })
  await eventually(() => access(file), clientTimeoutMs)
  const before = await countRejected()
  await eventually(async () => expect(await countRejected()).toBeGreaterThan(before))
  await setLimits(pool, entity, { storedBytes: null })
}

const losses = [...Array.from({ length: 30 }, (_, step) => 1 / (step + 1)), 0.001]

const rows = [
  [1, 'x'],
  [2, 'y'],
]
const missing = ['sweep', 'sweeps', 'agent', 'reports', 'queue', 'run_queue', 'automations']

const versions = [
  ['0.31.0', 'wandb'],
  ['0.25.0', 'wandb-oldest'],
] as const

describe.each(limitCases(versions, 1))('wandb %s', (version, packages) => {
  test(
    'writes runs, resumes them, and reads, finds, changes and deletes them',
    async () => {
      const [project, entity] = [newProject(), packages]
      const foreign = expect.stringContaining(`belongs to the entity ${entity}`) as unknown
      const env = {
        WANDB_PROJECT: project,
        WANDB_BASE_URL: own.server.url,
        WANDB_API_KEY: await addKey(own.database.pool, entity),
        NO_ROOM_FILE: join(tmpdir(), randomUUID()),
      }
      onTestFinished(() => rm(env.NO_ROOM_FILE, { force: true }))
      const [facts] = await Promise.all([
        runPython<Record<string, unknown>>(stack, 'runs', { packages, scripts: 'wandb', env }),
        fillEntity(entity, env.NO_ROOM_FILE),
      ])
      expect(facts).toMatchObject({
        version,
        starting_step: version === '0.25.0' ? expect.any(Number) : 31,
        must: 'UsageError',
        never: 'UsageError',
        run: {
          name: 'The first',
          state: 'finished',
          notes: 'some notes',
          group: 'a group',
          job_type: 'train',
          tags: ['one', 'two'],
          config: { lr: 0.5, later: true, 'dots.in': 3, optimizer: { name: 'adam', betas: [0.9, 0.99] } },
          loss: 0.001,
          best: 0.25,
          nested: 7,
          lastStep: 31,
        },
        scanned: losses,
        odd: ['NaN'],
        far: ['Infinity'],
        text: ['a \u00e9 \u{1f600} line'],
        keyed: Array.from({ length: 30 }, (_, step) => step / 30),
        pages: 32,
        history: 32,
        samples: [1, 0.125, 0.0625, 1 / 24, 0.001],
        inner: [{ _step: 30, 'nested.inner': 7 }],
        keyed_pages: Array.from({ length: 30 }, (_, step) => step / 30),
        from_step: [1 / 3, 1 / 4],
        only_line: [5.5],
        image: ['image-file', 'a square', true],
        table: ['table-file', 2, rows],
        table_artifact: [['a', 'b'], rows],
        histogram: [10, 0, 9],
        defined: [19, 2],
        system: true,
        content: 'a file of the run',
        metadata: true,
        runs: {
          all: ['first', 'failed', 'never'],
          paged: ['first', 'failed', 'never'],
          newest: ['never', 'failed', 'first'],
          by_loss: ['first', 'never', 'failed'],
          by_rate: ['never', 'first', 'failed'],
          state: ['failed'],
          config: ['first', 'never'],
          nested: ['first'],
          value: ['never'],
          or: ['first', 'failed'],
          tags: ['first'],
          summary: ['first'],
          exists: ['first'],
          not: ['failed'],
          time: ['first', 'failed', 'never'],
        },
        count: 3,
        projects: expect.arrayContaining([project]) as unknown,
        project,
        operator: expect.stringContaining('$near is not supported') as unknown,
        updated: [['one', 'two', 'three'], 'yes', 0.5, 1, 'finished'],
        left: 0,
        deleted: ['first', 'failed'],
        logged: ['gone:v0', 'gone:v1'],
        used: expect.stringContaining('not supported') as unknown,
        artifacts: [false, false, true],
        gone: expect.stringMatching(/Error$/) as unknown,
        synced: { losses: [7, 8, 9], summary: 9, state: 'finished', tags: ['later'], lr: 3 },
        unsupported: {
          ...Object.fromEntries(missing.map((name) => [name, expect.stringContaining('not supported') as unknown])),
          registries: expect.stringContaining('not enabled') as unknown,
        },
        foreign: { init: foreign, run: foreign, runs: foreign },
        foreign_env: { init: foreign, run: foreign },
        // Exit codes, with a right and with a wrong key.
        login: [0, 1],
        status: true,
        no_room: expect.stringContaining('Its limit stored_bytes is 1') as unknown,
        full: [Array.from({ length: 50 }, (_, step) => step), 'finished', 'saved while the entity was full'],
      })
      // No call waits for an answer that never comes.
      expect(facts['slowest']).toBeLessThan(30)
      expect(facts['files']).toEqual(
        expect.arrayContaining(['config.yaml', 'notes.txt', 'output.log', 'wandb-metadata.json', 'wandb-summary.json']),
      )
    },
    2 * clientTimeoutMs,
  )
})

test(
  'what ART logs of a validation is beside the metrics of the model that training has made',
  async () => {
    const pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 1)
    onTestFinished(() => pool.end())
    // The own server has no base models.
    const key = await addKey(pool, `team-${randomUUID()}`)
    const env = {
      WANDB_PROJECT: newProject(),
      WANDB_API_KEY: key,
      TRAINYARD_BASE_MODEL: stack.baseModel,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      HF_HUB_OFFLINE: '1',
    }
    const [packages = ''] = await listArtFolders()
    const { model } = await runPython<{ model: string }>(stack, 'val_metrics', { packages, scripts: 'art', env })
    const rest = createRest(stack, key)
    const trained = new ModelRows(pool, stack.artifacts)
    for (const step of [1, 2]) await trained.addCheckpoint(model, step, { metrics: { reward: step / 4 } })
    const path = `/v1/preview/models/${model}/metrics`
    expect(await rest.call('GET', path)).toMatchObject({
      metrics: expect.arrayContaining([
        { key: 'reward', source: 'training', count: 2, points: [] },
        { key: 'val/reward', source: 'logged', count: 3, points: [] },
      ]) as unknown,
    })
    const steps = (...values: number[]) => values.map((value, index) => ({ step: index + 1, value }))
    expect(await rest.call('GET', `${path}?keys=reward,val/reward`)).toEqual({
      metrics: [
        { key: 'reward', source: 'training', count: 2, points: steps(0.25, 0.5) },
        { key: 'val/reward', source: 'logged', count: 3, points: steps(0.25, 0.5, 0.75) },
      ],
    })
  },
  clientTimeoutMs,
)
