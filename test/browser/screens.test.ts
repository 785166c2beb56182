import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { addKey } from '../support/api-server.ts'
import { useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo, rollOut, type Demo } from './demo.ts'
import { useWorld } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

let demo: Demo
let home: string
let ofRun: string

beforeAll(async () => {
  demo = await makeDemo(world, stack)
  home = `/${world.entity}/${demo.project}`
  ofRun = `${home}/runs/${demo.run.name}`
})

const open = (path: string, key = world.key) => browser.open({ url: world.server.url, path, key })
const pathOf = (page: Page) => page.url().slice(world.server.url.length)
const rowsOf = (page: Page, table: string) =>
  page.getByRole('table', { name: table }).locator('[data-row]').allTextContents()

test('the overview has what runs, what ran and what failed, and programs that work when they are pasted', async () => {
  const page = await open('/')
  await page.getByRole('link', { name: 'demo' }).click()
  await page.getByRole('heading', { name: '2 jobs at work' }).waitFor()
  await page.getByText('3 of 8').waitFor()
  await page.getByText('takes at most 32,768').waitFor()
  const last = page.getByRole('link', { name: demo.run.name })
  await last.locator('svg').waitFor()
  expect(await last.textContent()).toContain('step 12')
  await page.getByRole('button', { name: 'curl' }).click()
  const command = await page.locator('pre').filter({ hasText: 'curl' }).last().textContent()
  expect(command).toContain(`${world.server.url}/v1/`)
})

test('the overview of a project that has only traces leads to them, and to those that failed', async () => {
  const project_id = `${world.entity}/only-traced`
  for (const exception of [null, 'KeyError']) {
    const id = newId()
    const begun = { project_id, id, trace_id: newId(), op_name: 'answer', started_at: new Date().toISOString() }
    await world.rest.call('POST', '/call/start', { start: { ...begun, attributes: {}, inputs: {} } })
    const end = { project_id, id, ended_at: new Date().toISOString(), output: null, summary: {}, exception }
    await world.rest.call('POST', '/call/end', { end })
  }
  const page = await open(`/${world.entity}/only-traced`)
  await page.getByRole('heading', { name: 'Traces of the last day' }).waitFor()
  await page.getByRole('link', { name: '2 calls' }).waitFor()
  await page.getByRole('link', { name: '1 error' }).click()
  await page.getByText('1 call', { exact: true }).waitFor()
})

test('runs are sorted, filtered, pinned and compared, by keyboard too', async () => {
  const page = await open(home)
  await page.getByText('Last runs').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page.getByText('3 runs').waitFor()
  expect(await rowsOf(page, 'Runs')).toEqual(['tool-20261122093354', 'other-20261121050211', demo.run.name])
  await page.getByRole('button', { name: 'Step', exact: true }).press('Enter')
  await page.waitForURL(/sort=-step/)
  expect(await rowsOf(page, 'Runs')).toEqual([demo.run.name, 'other-20261121050211', 'tool-20261122093354'])
  const head = page.getByRole('table', { name: 'Runs' }).getByRole('columnheader', { name: 'Step' })
  expect(await head.getAttribute('aria-sort')).toBe('descending')
  await page.getByRole('button', { name: 'Reward', exact: true }).press('Enter')
  await page.waitForURL(/sort=-reward/)
  await expect.poll(() => rowsOf(page, 'Runs')).toEqual([demo.run.name, 'other-20261121050211', 'tool-20261122093354'])
  await page.getByRole('button', { name: 'Step', exact: true }).press('Enter')
  for (const run of ['other-20261121050211', 'tool-20261122093354'])
    await page.getByLabel(`Compare ${run}`).press('Space')
  await page.waitForURL(/pick=other/)
  expect((await rowsOf(page, 'Runs')).at(-1)).toBe(demo.run.name)
  await page.getByRole('link', { name: 'Compare 2' }).press('Enter')
  await page.getByRole('heading', { name: 'Compare 2 runs' }).waitFor()
  await page
    .getByRole('img', { name: /^other-.*tool-.*/ })
    .first()
    .waitFor()
  await page.goBack()
  // Until then, the filter is that of the comparison.
  await page.getByRole('table', { name: 'Runs' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('warm')
  await page.getByText('1 of 3 runs').waitFor()
  // The address holds the whole state.
  expect(pathOf(page)).toMatch(/\/runs\?pick=other-\w+,tool-\w+&q=warm&sort=-step$/)
})

test('columns of runs are hidden, and pinned beside the first one', async () => {
  const page = await browser.open({ url: world.server.url, path: `${home}/runs`, key: world.key, width: 700 })
  const table = page.getByRole('table', { name: 'Runs' })
  const heads = () => table.getByRole('columnheader').allInnerTexts()
  await table.waitFor()
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('group', { name: 'Columns' }).getByLabel('activity').click()
  await page.getByRole('group', { name: 'Stay at the left' }).getByLabel('step').click()
  await page.waitForURL(/cols=activity&pin=step/)
  await page.keyboard.press('Escape')
  expect((await heads()).slice(0, 3)).toEqual(['Run', 'Step', 'Reward'])
  const leftOf = async (name: string) => (await table.getByRole('columnheader', { name }).boundingBox())!.x
  const before = [await leftOf('Step'), await leftOf('Reward')]
  await table.evaluate((element) => element.parentElement!.scrollBy(120, 0))
  await expect.poll(() => leftOf('Reward')).toBeLessThan(before[1]! - 50)
  expect(await leftOf('Step')).toBe(before[0])
})

test('trajectories of a step are ranked, read one after the other and opened, by keyboard', async () => {
  const page = await open(`${ofRun}/trajectories?step=5`)
  await page.getByText('24 trajectories in 6 groups').waitFor()
  await page.keyboard.press(']')
  await page.getByText('32 trajectories in 12 groups').waitFor()
  expect(pathOf(page)).toBe(`${ofRun}/trajectories?step=6`)
  await page.getByRole('button', { name: 'val', exact: true }).press('Enter')
  await page.getByText('8 trajectories in 6 groups').waitFor()
  await page.getByRole('button', { name: 'train', exact: true }).press('Enter')
  await page.getByLabel('Order').selectOption('reward')
  const rewards = page.getByRole('table', { name: 'Trajectories' }).locator('[role=row] [role=cell]:nth-child(3)')
  await rewards.first().waitFor()
  const shown = (await rewards.allTextContents()).map(Number)
  expect(shown).toEqual(shown.toSorted((a, b) => b - a))
  await page.keyboard.press('j')
  const peek = page.getByRole('complementary', { name: 'Trajectory' })
  await peek.getByText('You answer in one short sentence.').waitFor()
  // The head of the table is its first row.
  const selected = (index: number) => page.locator(`[role=row][data-selected=true][aria-rowindex="${index}"]`)
  await selected(2).waitFor()
  await page.keyboard.press('j')
  await selected(3).waitFor()
  await page.keyboard.press('k')
  await selected(2).waitFor()
  await peek.getByRole('link', { name: 'Open' }).press('Enter')
  await page.getByRole('heading', { name: 'Its group' }).waitFor()
})

test('a trajectory is a conversation beside its siblings, and is compared with them', async () => {
  const page = await open(`${ofRun}/trajectories/${demo.trajectory}`)
  const [rollout] = rollOut(11, 12)
  await page.getByText(rollout!.answer).first().waitFor()
  for (const text of ['You answer in one short sentence.', rollout!.prompt, 'colour-1'])
    await page.getByText(text).first().waitFor()
  const siblings = page.getByRole('complementary', { name: 'Siblings' })
  expect(await siblings.getByRole('link', { name: /^diff with #/ }).count()).toBe(3)
  await siblings
    .getByRole('link', { name: /^diff with step 0/ })
    .first()
    .click()
  await page.getByText('the same').first().waitFor()
  expect(pathOf(page)).toContain('?diff=')
  await page.getByRole('button', { name: 'End the comparison' }).click()
  await page.waitForURL((url) => url.search === '')
})

describe('a checkpoint', () => {
  test('gets an alias, and is deleted by who types its name', async () => {
    const page = await open(`${home}/runs/other-20261121050211/checkpoints`)
    await page.getByText('4 checkpoints').waitFor()
    const rowOf = (step: number) => page.getByRole('row').filter({ has: page.getByText(String(step), { exact: true }) })
    await rowOf(2).getByRole('button', { name: 'Alias' }).press('Enter')
    await page.getByLabel('Alias', { exact: true }).fill('best')
    await page.keyboard.press('Enter')
    await rowOf(2).getByText('best').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await rowOf(3).getByRole('button', { name: 'Delete' }).press('Enter')
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Delete it' }).isDisabled()).toBe(true)
    await dialog.getByLabel(/^Type/).fill('other-20261121050211:step3')
    await page.keyboard.press('Enter')
    await page.getByText('3 checkpoints').waitFor()
  })

  test('is only read with a key that may only read', async () => {
    const page = await open(`${ofRun}/checkpoints`, await addKey(world.database.pool, world.entity, 'read'))
    await page.getByText('12 checkpoints').waitFor()
    expect(await page.getByRole('link', { name: 'Download' }).count()).toBe(12)
    expect(await page.getByRole('button', { name: /Alias|Delete/ }).count()).toBe(0)
  })
})

describe('a job', () => {
  test('says why it failed', async () => {
    const page = await open(`${home}/jobs/${demo.jobs.failed}`)
    await page.getByRole('heading', { name: 'Failed: BadInput' }).waitFor()
    await page.getByText('takes at most 32,768').first().waitFor()
  })

  test('that failed is retried, and the new one names it', async () => {
    const page = await open(`${home}/jobs/${demo.jobs.failed}`)
    await page.getByRole('button', { name: 'Retry job' }).press('Enter')
    await page.getByRole('button', { name: 'Retry the job' }).press('Enter')
    const old = page.getByRole('link', { name: `job ${demo.jobs.failed.slice(0, 8)}` })
    await old.waitFor()
    const retried = page.url().split('/').at(-1)!
    expect(retried).not.toBe(demo.jobs.failed)
    await old.click()
    await page.getByRole('heading', { name: 'Failed: BadInput' }).waitFor()
    const read = (id: string) => world.rest.call<{ retry_of: string }>('GET', `/v1/preview/training-jobs/${id}`)
    expect((await read(retried)).retry_of).toBe(demo.jobs.failed)
    await world.rest.call('POST', `/v1/preview/training-jobs/${retried}/cancel`)
  })

  test('that ended has its lanes, events and settings', async () => {
    await world.database.pool.query(
      `INSERT INTO training.engine_adapters (pod_name, pod_uid, container_start, checkpoint_id)
       SELECT 'engine-of-' || job_id, 'uid', 'now', id FROM training.checkpoints WHERE job_id = $1`,
      [demo.jobs.succeeded],
    )
    const page = await open(`${home}/jobs/${demo.jobs.succeeded}`)
    await page.getByText('training_ended').waitFor()
    const lanes = await page.locator('[class*=lanes] b').allTextContents()
    expect(lanes).toEqual(['pending', 'queued', 'starting', 'running', 'publishing', 'loading'])
    await page.getByText(`engine-of-${demo.jobs.succeeded}`).waitFor()
    await page.getByText('learning_rate').waitFor()
    expect(await page.getByText('epsilon_high').count()).toBe(0)
    await page.getByRole('button', { name: /^All \d+ settings/ }).click()
    await page.getByText('epsilon_high').waitFor()
  })

  test('that waits is paused and resumed by an admin of its entity, and other keys have no button', async () => {
    const path = `${home}/jobs/${demo.jobs.waiting}`
    const paused = 'Paused by an admin of its entity'
    const page = await open(home)
    await page.getByRole('button', { name: 'Pause waiting jobs' }).press('Enter')
    await page.getByRole('button', { name: 'Pause them' }).press('Enter')
    await page.getByText(paused).waitFor()
    for (const role of ['admin', 'member', 'read'] as const) {
      const limits = await open(
        `/${world.entity}/settings/limits`,
        await addKey(world.database.pool, world.entity, role),
      )
      await limits.getByText('They are paused by an admin of the entity.').waitFor()
      expect(await limits.getByRole('button', { name: 'Resume waiting jobs' }).count()).toBe(role === 'admin' ? 1 : 0)
    }
    const admins = await open(path)
    await admins.getByText(paused).waitFor()
    await admins.getByRole('button', { name: 'Resume waiting jobs' }).press('Enter')
    await admins.getByRole('button', { name: 'Resume them' }).press('Enter')
    await expect.poll(() => admins.getByText(paused).count()).toBe(0)
    expect((await world.rest.call<{ paused: boolean }>('GET', '/v1/preview/limits')).paused).toBe(false)
  })

  test('that waits says why, for which place and for how long, and is cancelled', async () => {
    await world.database.pool.query(
      `UPDATE training.jobs SET claimed_at = finished_at - interval '5 min' WHERE state = 'Succeeded' AND id <> $1`,
      [demo.jobs.succeeded],
    )
    const page = await open(`${home}/jobs/${demo.jobs.waiting}`)
    const reason = page.getByRole('status').filter({ hasText: 'Why it waits' })
    expect(await reason.textContent()).toMatch(/of this model|same model|model/)
    await reason.getByText(/^It probably starts in about [1-5] minutes?, if no other job comes before it\.$/).waitFor()
    await page.getByRole('button', { name: 'Cancel job' }).press('Enter')
    await page.getByRole('button', { name: 'Cancel the job' }).press('Enter')
    await page.getByText('Cancelled').first().waitFor()
    await page.getByRole('button', { name: 'Cancel job' }).waitFor({ state: 'detached' })
    expect(
      (await world.rest.call<{ state: string }>('GET', `/v1/preview/training-jobs/${demo.jobs.waiting}`)).state,
    ).toBe('Cancelled')
  })
})

test('lists are counted as far as a client wants', async () => {
  const read = (path: string) => world.rest.call<{ total?: number; data: unknown[] }>('GET', path)
  const trajectories = `/v1/preview/models/${demo.run.id}/trajectories?limit=1`
  expect(await read(trajectories)).not.toHaveProperty('total')
  expect(await read(`${trajectories}&step=6&max_total=1000`)).toMatchObject({ total: 32, data: [{}] })
  expect(await read(`${trajectories}&max_total=10`)).toMatchObject({ total: 10 })
  const jobs = `/v1/preview/training-jobs?project=${demo.project}&limit=1`
  expect(await read(`${jobs}&state=Failed&max_total=10`)).toMatchObject({ total: 1 })
  expect(await read(`/v1/preview/models?project=${demo.project}&limit=1&max_total=10`)).toMatchObject({ total: 3 })
  const checkpoints = `/v1/preview/models/${demo.run.id}/checkpoints?limit=1`
  expect(await read(checkpoints)).not.toHaveProperty('total')
  expect(await read(`${checkpoints}&max_total=1000`)).toMatchObject({ total: 12, data: [{}] })
  expect(await read(`${checkpoints}&max_total=7`)).toMatchObject({ total: 7 })
  const { length } = (await read('/v1/preview/keys?limit=100')).data
  expect(await read('/v1/preview/keys?limit=1&max_total=1000')).toMatchObject({ total: length })
  // Nothing is sent: that is the work of the operator, and this server has none.
  const hook = { id: randomUUID() }
  await world.database.pool.query(
    `INSERT INTO training.webhooks (id, entity, url, events, sealed_secret, key_id)
     SELECT $1, $2, 'http://127.0.0.1:9/', $3, '', (SELECT id FROM auth.api_keys WHERE entity = $2 LIMIT 1)`,
    [hook.id, world.entity, ['training_job.queued', 'training_job.running']],
  )
  const replay = { after_position: 0 }
  const sent = await world.rest.call<{ replayed: number }>('POST', `/v1/preview/webhooks/${hook.id}/replay`, replay)
  expect(sent.replayed).toBeGreaterThan(1)
  const deliveries = `/v1/preview/webhooks/${hook.id}/deliveries?limit=1`
  expect(await read(`${deliveries}&max_total=1000`)).toMatchObject({ total: sent.replayed, data: [{}] })
  expect(await read(`${deliveries}&max_total=1`)).toMatchObject({ total: 1 })
  // A project counts once, with runs and traces or with one of them.
  await world.rest.call('POST', '/call/start', {
    start: {
      project_id: `${world.entity}/traced`,
      op_name: 'op',
      started_at: '2026-11-21T10:00:00Z',
      attributes: {},
      inputs: {},
    },
  })
  const projects = (await read('/v1/preview/projects?limit=100')).data.length
  expect(projects).toBeGreaterThan(1)
  expect(await read('/v1/preview/projects?limit=1&max_total=1000')).toMatchObject({ total: projects })
  expect(await read('/v1/preview/projects?limit=1&max_total=1')).toMatchObject({ total: 1 })
})
