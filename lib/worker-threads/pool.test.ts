import { expect, test } from 'vitest'
import { WorkerPool } from './pool.ts'

const pool = new WorkerPool({
  threads: 2,
  threadsPerKey: 1,
  resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 },
})
const toModule = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`)
const run = (code: string, task: unknown = 0, timeoutMs = 20_000) =>
  pool.run({ module: toModule(code), task, timeoutMs })

test('a module of each task is loaded when it is needed', async () => {
  expect(await run('export default { run: (n) => n + 1 }', 1)).toBe(2)
  expect(await run('export default { run: (n) => n * 10 }', 4)).toBe(40)
  expect(await run('export default { run: (n) => n + 1 }', 5)).toBe(6)
})

test('loading a module does not count as the time of a task', async () => {
  const slow = 'await new Promise((go) => setTimeout(go, 300)); export default { run: () => "done" }'
  expect(await run(slow, 0, 250)).toBe('done')
})

test.each([
  ['time', 'export default { run: () => { for (;;); } }', 100],
  ['memory', 'export default { run: () => { const all = []; for (;;) all.push({ all: [] }) } }', 60_000],
])(
  'a task that takes too much %s has no outcome, and the next one runs',
  { timeout: 60_000 },
  async (_, code, timeoutMs) => {
    expect(await run(code, 0, timeoutMs)).toBeUndefined()
    expect(await run('export default { run: (n) => n + 1 }', 1)).toBe(2)
  },
)

test('an error of the module goes to the caller', async () => {
  await expect(run('export default { run: () => { throw new Error("broken") } }')).rejects.toThrow('broken')
  await expect(run('throw new Error("no module")')).rejects.toThrow('no module')
  expect(await run('export default { run: (n) => n + 1 }', 1)).toBe(2)
})

test('listed parts are moved in both directions', async () => {
  const bytes = new Uint8Array(1024)
  const code = `export default {
    run: (bytes) => ({ bytes }),
    listTransfers: ({ bytes }) => [bytes.buffer],
  }`
  const request = { module: toModule(code), task: bytes, timeoutMs: 20_000, transfer: [bytes.buffer] }
  expect(await pool.run(request)).toEqual({ bytes: new Uint8Array(1024) })
  expect(bytes.byteLength).toBe(0)
})
