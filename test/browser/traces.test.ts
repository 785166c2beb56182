import { text } from 'node:stream/consumers'
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

/** Sends calls of two ops; those of the first fail. */
beforeAll(async () => {
  home = `/${world.entity}/${project}/weave`
  const project_id = `${world.entity}/${project}`
  const begin = Date.parse('2026-11-21T10:00:00Z')
  const batch = Array.from({ length: failures + 5 }, (_, index) => {
    const [id, fails] = [newId(), index < failures]
    const ids = { project_id, id }
    const at = (ms: number) => new Date(begin + index * 1_000 + ms).toISOString()
    const start = { ...ids, trace_id: newId(), op_name: fails ? 'look_up' : 'answer', started_at: at(0) }
    const end = { ...ids, ended_at: at(index), output: null, summary: {}, exception: fails ? 'KeyError' : null }
    return [
      { mode: 'start', req: { start: { ...start, attributes: {}, inputs: { question: `number ${index}` } } } },
      { mode: 'end', req: { end } },
    ]
  })
  await world.rest.call('POST', '/call/upsert_batch', { batch: batch.flat() })
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
