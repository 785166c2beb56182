import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { databaseSteps, repeatSteps, storeSteps } from './maintenance.ts'

const root = path.dirname(import.meta.dirname)
const page = readFileSync(path.join(root, 'docs/maintenance.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, step = '', word = '', often = '', , , where = '']) => ({ step, word, often, where }))

// They remove nothing.
const others = new Set(['createTracePartitions', 'resealWebhookSecrets'])
const words = ['deletion', 'erasure', 'gc', 'retention']
const frequent = Object.keys({ ...databaseSteps.frequent, ...storeSteps.frequent })
const hourly = Object.keys({ ...databaseSteps.hourly, ...storeSteps.hourly })

test('the page has a row for each step that removes something, and for no other', () => {
  const removing = [...frequent, ...hourly, 'sweepGarbage'].filter((step) => !others.has(step))
  expect([...new Set(rows.map(({ step }) => step))].sort()).toEqual(removing.sort())
  for (const step of others) expect(page).toContain(`\`${step}\``)
})

test.each(rows)(
  '$step has one of the four words, its pause, and a file that exists',
  ({ step, word, often, where }) => {
    expect(words).toContain(word)
    expect(often).toMatch(frequent.includes(step) ? /^2 s/ : /^1 h$/)
    expect(existsSync(path.join(root, where))).toBe(true)
  },
)

test('the page names each removing step that runs while the store belongs to another installation', () => {
  const [, section = ''] = page.split('## When nothing is removed')
  const named = (section.split('## Audit')[0] ?? '').match(/(?<=`)\w+(?=`)/g) ?? []
  const steps = Object.keys({ ...databaseSteps.frequent, ...databaseSteps.hourly })
  expect(named.sort()).toEqual(steps.filter((step) => !others.has(step)).sort())
})

test('hourly steps that fail are repeated soon, those that succeed an hour later', async () => {
  const outcomes = [false, false, true]
  const stop = new AbortController()
  const done = Promise.withResolvers<void>()
  const work = vi.fn(async () => outcomes.shift() ?? (done.resolve(), true))
  const running = repeatSteps(work, 3600_000, { signal: stop.signal, onError: () => {}, retryMs: 1 })
  await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(3))
  expect(await Promise.race([done.promise.then(() => 'again'), delay(100, 'waits')])).toBe('waits')
  stop.abort()
  await running
})
