import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withBesiegedServer } from '../hostile/besieged-server.ts'
import { mib } from '../hostile/bodies.ts'
import { watchMemory } from '../hostile/process-memory.ts'
import type { Siege } from '../hostile/siege.ts'
import { addKey } from '../support/api-server.ts'
import { useStack } from '../support/stack.ts'
import { askGraphql, streamFiles, upsertRun } from '../support/wandb.ts'
import { post } from '../support/post.ts'

const stack = useStack()
const project = 'large'
const entity = 'attacker'
const name = 'run'
// Half of what the pod has.
const peakBytes = 1_024 * mib
const slowestMs = 5_000

interface Attacker {
  url: string
  member: string
  read: string
}

/** What is stored first, and the request that is then sent several times at once. */
interface Attack {
  prepare: (attacker: Attacker) => Promise<void>
  send: (attacker: Attacker) => Promise<Response>
  times: number
}

const attacks: Record<string, Attack> = {
  'a config under many names': {
    prepare: ({ url, member }) => begin(url, member, { config: JSON.stringify({ a: 'x'.repeat(mib) }) }),
    send: (attacker) => select(attacker, `run(name: "${name}") { ${aliases(500, 'config')} }`),
    times: 2,
  },
  'parts of a config under many names': {
    prepare: ({ url, member }) =>
      begin(url, member, { config: JSON.stringify({ _wandb: { value: { a: 'x'.repeat(mib) } } }) }),
    send: (attacker) => select(attacker, `run(name: "${name}") { ${aliases(500, 'wandbConfig(keys: ["a"])')} }`),
    times: 2,
  },
  'histories with another key of 4 MB in each line': {
    prepare: (attacker) => writeLines(attacker, (line) => ({ [`${line} `.padEnd(4 * mib - 1_024, 'k')]: 1 })),
    send: async (attacker) => get(attacker, `/v1/preview/runs/${await findId(attacker)}/metrics`),
    times: 3,
  },
  'histories with a thousand other keys in each line': {
    prepare: (attacker) => writeLines(attacker, (line) => listKeys(1_000, line)),
    send: async (attacker) => get(attacker, `/v1/preview/runs/${await findId(attacker)}/metrics`),
    times: 6,
  },
  'keys of histories under many names': {
    prepare: (attacker) => writeLines(attacker, (line) => listKeys(100, line)),
    send: (attacker) => select(attacker, `run(name: "${name}") { ${aliases(100, 'historyKeys')} }`),
    times: 3,
  },
  'runs with long settings': {
    prepare: async ({ url, member }) => {
      for (let run = 0; run < 100; run++) await upsertRun({ url, key: member }, longRun(run))
    },
    send: (attacker) => get(attacker, '/v1/preview/runs?limit=100'),
    times: 6,
  },
}

test.each(Object.entries(attacks))(
  '%s leave memory and time for others',
  { timeout: 600_000 },
  async (what, attack) => {
    await withBesiegedServer(stack, async (siege) => {
      const { server, pool, group } = siege
      const attacker = { url: server.url, member: await addKey(pool, entity), read: await addKey(pool, entity, 'read') }
      await attack.prepare(attacker)
      const memory = watchMemory(server.pid, pool)
      const send = () =>
        Promise.all(Array.from({ length: attack.times }, () => readStatus(() => attack.send(attacker))))
      const [result] = await Promise.allSettled([besideNeighbour(siege, send)])
      await memory.stop()
      if (result.status === 'rejected') throw result.reason
      const { statuses, waitedMs } = result.value
      const kills = (await group?.countKills()) ?? 0
      process.stdout.write(
        `${what}: statuses ${statuses.join(', ')}; peak ${Math.round(memory.peaks.serverBytes / mib)} MiB (${peakBytes / mib}), ` +
          `neighbour's slowest answer ${Math.round(waitedMs)} ms (${slowestMs}), ended by the kernel ${kills} times\n`,
      )
      expect(statuses).not.toContain('none')
      expect(kills).toBe(0)
      expect(memory.peaks.serverBytes).toBeLessThan(peakBytes)
      expect(waitedMs).toBeLessThan(slowestMs)
    })
  },
)

async function begin(url: string, key: string, more: Record<string, unknown> = {}): Promise<void> {
  await upsertRun({ url, key }, { modelName: project, name, ...more })
}

const aliases = (count: number, field: string) =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ')

function longRun(index: number) {
  const text = '語'.repeat(64 * 1024)
  const settings = [
    'displayName',
    'description',
    'notes',
    'groupName',
    'jobType',
    'jobProgram',
    'jobRepo',
    'commit',
    'host',
  ]
  return {
    modelName: project,
    name: `${name}${index}`,
    ...Object.fromEntries(settings.map((setting) => [setting, text])),
    tags: Array.from({ length: 100 }, (_, tag) => `${tag}`.padEnd(256, '語')),
  }
}

async function writeLines({ url, member }: Attacker, values: (line: number) => Record<string, number>): Promise<void> {
  await begin(url, member)
  for (let line = 0; line < 70; line++) {
    const content = [JSON.stringify({ ...values(line), _step: line })]
    const files = { 'wandb-history.jsonl': { offset: line, content } }
    const response = await streamFiles({ url, key: member }, { entity, project, run: name }, { files })
    expect(response.status).toBe(200)
  }
}

const listKeys = (count: number, line: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${line} ${index} `.padEnd(1_000, 'k'), 1]))

function select({ url, read }: Attacker, fields: string): Promise<Response> {
  return post(`${url}/graphql`, read, { query: `{ project(name: "${project}") { ${fields} } }` })
}

function get({ url, read }: Attacker, path: string): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { authorization: `Bearer ${read}` } })
}

async function findId({ url, read }: Attacker): Promise<string> {
  const query = `{ project(name: "${project}") { run(name: "${name}") { id } } }`
  const found = await askGraphql<{ project: { run: { id: string } } }>({ url, key: read }, query)
  return found.project.run.id
}

/** The status of an answer that is read to its end. `none`: the connection ended. */
async function readStatus(send: () => Promise<Response>): Promise<string> {
  try {
    const response = await send()
    let bytes = 0
    for await (const chunk of response.body!) bytes += chunk.length
    return `${response.status} (${bytes} bytes)`
  } catch {
    return 'none'
  }
}

/** The slowest answer to another entity during some work. */
async function besideNeighbour<T>({ server, pool }: Siege, work: () => Promise<T>) {
  const key = await addKey(pool, 'neighbour')
  const stop = new AbortController()
  let waitedMs = 0
  const ask = async () => {
    while (!stop.signal.aborted) {
      const startMs = performance.now()
      const response = await fetch(`${server.url}/v1/preview/runs`, { headers: { authorization: `Bearer ${key}` } })
      expect(response.status).toBe(200)
      await response.text()
      waitedMs = Math.max(waitedMs, performance.now() - startMs)
      await delay(50)
    }
  }
  const [, statuses] = await Promise.all([ask(), work().finally(() => stop.abort())])
  return { statuses, waitedMs }
}
