import { createServer } from 'node:http'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addKey, startApiServer, type RunningApiServer } from '../support/api-server.ts'
import { clientTimeoutMs, newProject, runPython } from '../support/client-scripts.ts'
import { useTestDatabase } from '../support/database.ts'
import { setLimits } from '../support/entity-limits.ts'
import { eventually } from '../support/eventually.ts'
import { openKillingProxy, type KillingProxy, type KillMoment } from './killing-proxy.ts'
import { limitCases } from '../support/random-cases.ts'
import { createRest } from '../support/rest.ts'
import { useOwnStack } from '../support/api-server.ts'

// Whole lives of artifacts by the unchanged SDK, through servers that die: see test/clients/wandb/artifacts.py.

const stack = await useOwnStack()
const entity = 'sdk-artifacts'
const database = useTestDatabase()
let server: RunningApiServer
let proxy: KillingProxy
let keys: { own: string; full: string }

beforeAll(async () => {
  const { pool, databaseUrl } = database
  const start = async () => (server = await startApiServer(stack, databaseUrl))
  await start()
  const replace = async () => {
    await server.remove()
    await start()
  }
  proxy = await openKillingProxy({
    get port() {
      return Number(new URL(server.url).port)
    },
    replace,
  })
  keys = { own: await addKey(pool, entity), full: await addKey(pool, 'full') }
  await pool.query(
    'INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$1, $2], $3, $1)',
    ['tiny', stack.baseModel, 'trainyard'],
  )
})

afterAll(async () => {
  await proxy?.close()
  await server?.remove()
})

/** What the script asks for: a death of the server, or an entity that is full for a while. */
async function obey(when: string, marker: string): Promise<void> {
  if (when === 'full') await setLimits(database.pool, 'full', { storedBytes: 0 })
  else if (when === 'room') await setLimits(database.pool, 'full', { storedBytes: null })
  else if (when === 'copied') await killWhenCopied(marker)
  else proxy.arm(when as KillMoment, marker)
}

/** Listens to the script. */
async function openControl() {
  const control = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, 'http://control')
    void obey(searchParams.get('when')!, searchParams.get('marker') ?? '').finally(() => response.end())
  }).listen(0, '127.0.0.1')
  await once(control, 'listening')
  const { port } = control.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => control.close() }
}

/** Kills the server when the files of a checkpoint are copied, and its row is not there yet. */
async function killWhenCopied(marker: string): Promise<void> {
  const connection = await database.pool.connect()
  await connection.query('BEGIN')
  await connection.query('SELECT FROM training.models FOR UPDATE')
  const folder = path.join(stack.artifacts, 'checkpoints')
  const before = new Set(await readdir(folder).catch(() => []))
  const isCopied = async () => {
    const added = (await readdir(folder).catch(() => [])).filter((name) => !before.has(name))
    expect(added.map((name) => existsSync(path.join(folder, name, 'manifest.json')))).toContain(true)
  }
  proxy.arm('held', marker)
  const wait = async () => {
    try {
      await eventually(isCopied, 60_000)
    } finally {
      proxy.die()
      await connection.query('ROLLBACK')
      connection.release()
    }
  }
  void wait()
}

const versions = [
  ['0.31.0', 'wandb'],
  ['0.25.0', 'wandb-oldest'],
] as const

describe.each(limitCases(versions, 1))('wandb %s', (version, packages) => {
  test(
    'logs, uses, downloads, changes and deletes artifacts while servers die',
    async () => {
      const project = newProject()
      const rest = createRest({ ...stack, url: server.url }, keys.own)
      const model = await rest.call<{ name: string }>('POST', '/v1/preview/models', {
        project,
        name: 'agent',
        base_model: stack.baseModel,
      })
      const control = await openControl()
      const killed = proxy.kills
      const env = {
        WANDB_PROJECT: project,
        WANDB_BASE_URL: `http://127.0.0.1:${proxy.port}`,
        WANDB_API_KEY: keys.own,
        FULL_KEY: keys.full,
        MODEL: model.name,
        BASE_MODEL: stack.baseModel,
        CONTROL_URL: control.url,
      }
      const facts = await runPython(stack, 'artifacts', { packages, scripts: 'wandb', env })
      control.close()
      expect(facts).toEqual({
        version,
        logged: ['v0', ['first', 'latest'], 'COMMITTED'],
        changed: ['v1', ['latest', 'second']],
        again: ['v1', true],
        used: true,
        newest: true,
        checkpoint: ['v0', ['latest', 'step3']],
        adapter: true,
        not_finite: expect.stringContaining('q_proj.lora_B.weight" has a number that is not finite') as string,
        wrong_bytes: expect.stringMatching(/./) as string,
        wrong_size: expect.stringContaining('1 files of the artifact are not stored, or have another size') as string,
        steps: Array.from({ length: 200 }, (_, step) => step),
        versions: [
          ['v1', ['again', 'latest', 'second']],
          ['v0', ['first']],
        ],
        lies: expect.stringMatching(/not found|could not be found|does not exist/i) as string,
        files: ['deep/large.bin', 'small.txt'],
        saved: ['v0', ['best'], true],
        deleted: expect.stringMatching(/./) as string,
        left: true,
        wrong_key: expect.stringMatching(/401|key/i) as string,
        full: expect.stringContaining('Its limit stored_bytes is 0') as string,
      })
      expect(facts).not.toMatchObject({ wrong_bytes: 'worked' })
      expect(proxy.kills - killed).toBe(4)
    },
    2 * clientTimeoutMs,
  )
})
