import { expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { useWorld } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

const count = 10_000

/** Sends a trace: one call, with many in it and a call in the first of these. Returns the id of the first. */
async function sendTrace(): Promise<string> {
  const project_id = `${world.entity}/large`
  const [trace_id, root, first] = [newId(), newId(), newId()]
  const begin = Date.parse('2026-11-21T10:00:00Z')
  const at = (ms: number) => new Date(begin + ms).toISOString()
  const others = Array.from({ length: count - 3 }, (_, index) => ({
    id: newId(),
    parent_id: root,
    op_name: `op ${index + 2}`,
  }))
  const calls = [
    { id: root, op_name: 'root' },
    { id: first, parent_id: root, op_name: 'op 1' },
    { id: newId(), parent_id: first, op_name: 'leaf' },
    ...others,
  ]
  const batch = calls.flatMap((call, index) => [
    {
      mode: 'start',
      req: { start: { project_id, trace_id, ...call, started_at: at(index), attributes: {}, inputs: { index } } },
    },
    {
      mode: 'end',
      req: {
        end: { project_id, id: call.id, ended_at: at(index === 0 ? 20_000 : index + 5), output: index, summary: {} },
      },
    },
  ])
  for (let from = 0; from < batch.length; from += 2_000) {
    await world.rest.call('POST', '/call/upsert_batch', { batch: batch.slice(from, from + 2_000) })
  }
  return root
}

test('keys go through a trace of 10,000 calls, and a call gets feedback and goes into a data set', async () => {
  const { server, key, entity } = world
  const root = await sendTrace()
  const path = `/${entity}/large/weave/calls/${root}`
  // Ctrl K asks whether an id is that of a job or a run, too.
  const page = await browser.open({ url: server.url, path, key, statuses: [404, 422] })
  await page.getByText('10,000 calls in 20 s').waitFor()
  const selected = page.locator('[role=row][aria-selected=true]')
  // The next key counts for the row that has the focus.
  const readFocused = () => page.evaluate<string>(`document.activeElement.innerText`)
  const expectSelected = async (name: string) => {
    await expect.poll(() => selected.innerText()).toContain(name)
    await expect.poll(readFocused).toContain(name)
  }
  await selected.focus()
  await page.keyboard.press('ArrowDown')
  await expectSelected('op 1')
  expect(await selected.getAttribute('aria-setsize')).toBe(String(count - 2))
  await page.keyboard.press('Alt+ArrowDown')
  await expectSelected('op 2')
  await page.keyboard.press('Alt+ArrowUp')
  await expectSelected('op 1')
  await page.keyboard.press('e')
  await expect.poll(() => selected.getAttribute('aria-expanded')).toBe('false')
  await page.keyboard.press('Alt+ArrowRight')
  await expectSelected('leaf')
  await page.keyboard.press('End')
  await expectSelected(`op ${count - 2}`)
  await expect.poll(() => page.evaluate(`document.activeElement.getAttribute('aria-posinset')`)).toBe(String(count - 2))
  expect(await page.locator('[role=row]').count()).toBeLessThan(100)
  await page.getByText(`index: ${count - 1}`).waitFor()
  await page.goto(`${path}?tab=feedback`)
  await page.getByRole('button', { name: 'Good' }).click()
  await page.getByLabel('Note').fill('fine')
  await page.getByRole('button', { name: 'Add the note' }).click()
  await page.locator('li', { hasText: 'fine' }).getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => page.locator('#content li').allInnerTexts()).toHaveLength(1)
  await page.getByRole('button', { name: 'To data set' }).click()
  await page.getByLabel('Data set', { exact: true }).fill('mistakes')
  await page.getByRole('button', { name: 'Copy it' }).click()
  await page.getByText('mistakes is at version 0, with 1 row.').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill(root)
  await page.getByRole('option', { name: 'root' }).waitFor()
})

test('p leaves the calls that decide how long a trace takes', async () => {
  const project_id = `${world.entity}/path`
  const [trace_id, root] = [newId(), newId()]
  const begin = Date.parse('2026-11-21T10:00:00Z')
  const at = (ms: number) => new Date(begin + ms).toISOString()
  const calls = [
    { id: root, op_name: 'root', from: 0, to: 1_000 },
    { id: newId(), parent_id: root, op_name: 'beside', from: 200, to: 300 },
    { id: newId(), parent_id: root, op_name: 'slow', from: 50, to: 950 },
  ]
  const batch = calls.flatMap(({ from, to, ...call }) => [
    {
      mode: 'start',
      req: { start: { project_id, trace_id, ...call, started_at: at(from), attributes: {}, inputs: {} } },
    },
    { mode: 'end', req: { end: { project_id, id: call.id, ended_at: at(to), output: null, summary: {} } } },
  ])
  await world.rest.call('POST', '/call/upsert_batch', { batch })
  const path = `/${world.entity}/path/weave/calls/${root}`
  const page = await browser.open({ url: world.server.url, path, key: world.key })
  await page.getByRole('button', { name: 'slow', exact: true }).waitFor()
  const names = () => page.getByRole('treegrid').locator('[role=gridcell]:first-child').allInnerTexts()
  expect((await names()).map((name) => name.replace('▾', '').trim())).toEqual(['root', 'slow', 'beside'])
  await page.keyboard.press('p')
  await page.waitForURL(/path=1/)
  expect((await names()).map((name) => name.replace('▾', '').trim())).toEqual(['root', 'slow'])
  await page.getByRole('gridcell', { name: 'decides 900 ms of the trace' }).waitFor()
  await page.getByRole('button', { name: 'slow', exact: true }).click()
  await expect.poll(() => page.locator('[role=row][aria-selected=true]').innerText()).toContain('slow')
})
