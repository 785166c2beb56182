import { text } from 'node:stream/consumers'
import type { Page, Request } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { useWorld } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

const project = 'views'
const failures = 30
let home: string

interface Sent {
  fails: boolean
  ms: number
}

/** Sends calls to a project, one a second: `look_up` if they fail, else `answer`. */
async function sendCalls(to: string, calls: readonly Sent[]): Promise<void> {
  const project_id = `${world.entity}/${to}`
  const begin = Date.parse('2026-11-21T10:00:00Z')
  const batch = calls.map(({ fails, ms: tookMs }, index) => {
    const ids = { project_id, id: newId() }
    const at = (ms: number) => new Date(begin + index * 1_000 + ms).toISOString()
    const start = { ...ids, trace_id: newId(), op_name: fails ? 'look_up' : 'answer', started_at: at(0) }
    const end = { ...ids, ended_at: at(tookMs), output: null, summary: {}, exception: fails ? 'KeyError' : null }
    return [
      { mode: 'start', req: { start: { ...start, attributes: {}, inputs: { question: `number ${index}` } } } },
      { mode: 'end', req: { end } },
    ]
  })
  await world.rest.call('POST', '/call/upsert_batch', { batch: batch.flat() })
}

/** Calls of two ops; those of the first fail. */
beforeAll(async () => {
  home = `/${world.entity}/${project}/weave`
  const calls = Array.from({ length: failures + 5 }, (_, index) => ({ fails: index < failures, ms: index }))
  await sendCalls(project, calls)
})

const open = (path: string) => browser.open({ url: world.server.url, path, key: world.key })

test('a row opens its call beside the table, and the download has exactly the rows that are shown', async () => {
  const page = await open(`${home}/calls?op=look_up&sort=latency&cols=inputs.question`)
  await page.getByText('30 calls').waitFor()
  const table = page.getByRole('table', { name: 'Calls' })
  await table.getByRole('row').nth(2).getByText('number 1', { exact: true }).click({ force: true })
  const peek = page.getByRole('complementary', { name: 'Call' })
  await peek.getByText('KeyError').waitFor()
  await peek.getByRole('button', { name: 'inputs and output' }).click()
  await peek.getByText('number 1', { exact: true }).waitFor()
  await page.keyboard.press('k')
  await peek.getByText('number 0', { exact: true }).waitFor()
  const saving = page.waitForEvent('download')
  await page.getByTitle('Download what is shown').click()
  const saved = await text(await (await saving).createReadStream())
  const rows = saved
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { inputs: { question: string } })
  const questions = Array.from({ length: failures }, (_, index) => `number ${index}`)
  expect(rows.map(({ inputs }) => inputs.question)).toEqual(questions)
  // It is what the command of the page answers with.
  await page.getByRole('button', { name: 'API' }).click()
  const command = await page.locator('pre').filter({ hasText: 'curl' }).textContent()
  const body = JSON.parse(/-d '(.*)' /.exec(command!)![1]!) as object
  const answer = await world.rest.send('POST', '/traces/calls/stream_query', body)
  expect(
    (await answer.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(rows)
})

/** The place of the first call that a request of the table asks for. */
function offsetOf(request: Request): number | undefined {
  if (!request.url().endsWith('/stream_query')) return undefined
  return (request.postDataJSON() as { offset?: number }).offset
}

test('any row of a long table is reached, only the pages near it are read, and those that it passes are given up', async () => {
  await sendCalls(
    'long',
    Array.from({ length: 1_500 }, (_, index) => ({ fails: false, ms: index })),
  )
  const page = await open(`/${world.entity}/long/weave/calls?sort=started&cols=inputs.question`)
  const table = page.getByRole('table', { name: 'Calls' })
  await page.getByText('1,500 calls').waitFor()
  await table.and(page.locator('[aria-rowcount="1501"]')).waitFor()
  const asked: (number | undefined)[] = []
  page.on('request', (request) => asked.push(offsetOf(request)))
  const held = Promise.withResolvers<void>()
  await page.route('**/stream_query', async (route) => {
    if (offsetOf(route.request()) === 1_400) await held.promise
    await route.continue().catch(() => undefined)
  })
  const [atEnd] = await Promise.all([
    page.waitForRequest((request) => offsetOf(request) === 1_400),
    page.evaluate('scrollTo(0, document.body.scrollHeight)'),
  ])
  await Promise.all([
    page.waitForEvent('requestfailed', (request) => request === atEnd),
    page.evaluate('scrollTo(0, document.body.scrollHeight * 0.45)'),
  ])
  await table
    .getByText(/^number 6\d\d$/)
    .first()
    .waitFor()
  held.resolve()
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await table.getByText('number 1499', { exact: true }).waitFor()
  expect(asked).not.toContain(200)
  expect(asked).not.toContain(1_000)
})

/** Saves what the table shows. */
async function saveView(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: /^View/ }).click()
  await page.getByLabel('Name of the view').fill(label)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: `View ${label}`, exact: true }).waitFor()
  await page.keyboard.press('Escape')
}

test('a view is saved, renamed, opened by its address and deleted', async () => {
  const page = await open(`${home}/calls?op=look_up&status=error&sort=-latency&cols=-cost,inputs.question`)
  await page.getByText('30 calls').waitFor()
  await saveView(page, 'Failed')
  await page.waitForURL(/view=failed/)
  await page.getByRole('button', { name: 'View Failed', exact: true }).click()
  await page.getByRole('button', { name: 'Rename the view Failed' }).click()
  await page.getByLabel('New name of the view Failed').fill('Look-ups')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'View Look-ups', exact: true }).waitFor()
  // Its address stays.
  await page.goto(`${home}/calls?view=failed`)
  await page.getByText('30 calls').waitFor()
  const table = page.getByRole('table', { name: 'Calls' })
  expect(new URL(page.url()).searchParams.get('status')).toBe('error')
  await table.getByText('number 29', { exact: true }).waitFor()
  expect(await page.getByRole('columnheader', { name: 'Latency' }).getAttribute('aria-sort')).toBe('descending')
  expect(await page.getByRole('columnheader', { name: 'Cost' }).count()).toBe(0)
  // The name of the renamed view is not taken by another one.
  await page.goto(`${home}/calls?status=success`)
  await page.getByText('5 calls').waitFor()
  await saveView(page, 'Failed')
  await page.getByRole('button', { name: 'View Failed', exact: true }).click()
  await page.getByRole('button', { name: 'Look-ups', exact: true }).click()
  await page.getByText('30 calls').waitFor()
  for (const label of ['Look-ups', 'Failed']) {
    await page.getByRole('button', { name: `Delete the view ${label}` }).click()
    await page.getByRole('button', { name: label, exact: true }).waitFor({ state: 'detached' })
  }
  await page.getByText('No saved view yet').waitFor()
})
