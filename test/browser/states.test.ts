import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { addKey } from '../support/api-server.ts'
import { appears, useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo, type Demo } from './demo.ts'
import { listRoutes } from './routes.ts'
import { createRun, useWorld } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

let demo: Demo
beforeAll(async () => {
  demo = await makeDemo(world, stack)
  await createRun(world, stack, 'fresh', 'untrained')
})

const home = () => `/${world.entity}/${demo.project}`
const open = (more: { key?: string; statuses?: number[] } = {}) =>
  browser.open({ url: world.server.url, path: '/login', key: world.key, ...more })

// The session and the stream belong to the shell, and not to a screen.
const ofScreens = (url: URL) =>
  /^\/(v1|traces)\//.test(url.pathname) && !/\/preview\/(session|stream)/.test(url.pathname)

const requestId = 'request-of-this-test'
const failure = { status: 409, headers: { 'x-request-id': requestId }, json: { detail: 'Nothing works today.' } }

/** Visits places in one page. Returns what is missing there, with their paths. */
async function visit(page: Page, paths: readonly string[], check: (path: string) => Promise<string[]>) {
  const faults: string[] = []
  for (const path of paths) {
    await page.goto(path)
    faults.push(...(await check(path)).map((fault) => `${path}: ${fault}`))
  }
  return faults
}

const missing = async (page: Page, ...texts: string[]) => {
  const found = await Promise.all(texts.map((text) => appears(page, text)))
  return texts.filter((_, index) => !found[index]).map((text) => `does not show "${text}"`)
}

test('a screen says that it loads, and then what went wrong, with the id of the request', async () => {
  const page = await open({ statuses: [failure.status] })
  let held = Promise.withResolvers<void>()
  await page.route(ofScreens, async (route) => {
    await held.promise
    await route.fulfill(failure).catch(() => undefined)
  })
  const paths = listRoutes(world.entity, demo).flatMap(({ path, isStill }) => (isStill ? [] : [path]))
  const faults = await visit(page, paths, async () => {
    const isLoading = await page
      .getByRole('status', { name: 'Loading' })
      .first()
      .waitFor()
      .then(
        () => true,
        () => false,
      )
    held.resolve()
    const found = await missing(page, 'This did not work', 'Nothing works today.', requestId)
    held = Promise.withResolvers<void>()
    return isLoading ? found : ['does not say that it loads', ...found]
  })
  held.resolve()
  expect(faults).toEqual([])
})

test('an empty screen has the command that fills it', async () => {
  const page = await open()
  const ofRun = `/${world.entity}/fresh/runs/untrained`
  const empty: Record<string, [title: string, command: string]> = {
    [`/${world.entity}/nothing`]: ['is empty', 'art.TrainableModel'],
    [`/${world.entity}/nothing/runs`]: ['No runs yet', 'project="nothing"'],
    [`/${world.entity}/nothing/datasets`]: ['No data sets yet', '-X PUT'],
    [`/${world.entity}/nothing/weave/traces`]: ['No traces yet', 'weave.init("nothing")'],
    [ofRun]: ['Nothing is trained or logged yet', 'name="untrained"'],
    [`${ofRun}/trajectories`]: ['No trajectories at step 0', 'backend.train'],
    [`${ofRun}/checkpoints`]: ['No checkpoints yet', 'backend.train'],
    [`${ofRun}/jobs`]: ['No training jobs yet', 'backend.train'],
    [`/${world.entity}/settings/webhooks`]: ['No webhooks yet', '-X POST'],
    [`${home()}/jobs/${demo.jobs.waiting}`]: ['No events yet', 'text/event-stream'],
    [`${home()}/jobs/${demo.jobs.waiting}?attempt=1`]: ['Its log is empty', 'text/plain'],
  }
  const check = (path: string) => missing(page, ...(empty[path] ?? []))
  expect(await visit(page, Object.keys(empty), check)).toEqual([])
  // It works as it is pasted.
  await page.goto(`/${world.entity}/nothing/datasets`)
  const command = await page.locator('pre').filter({ hasText: '-X PUT' }).textContent()
  const env = { PATH: process.env['PATH'], TRAINYARD_API_KEY: world.key }
  await promisify(execFile)('bash', ['-c', command!], { env })
  await page.reload()
  await page.getByRole('button', { name: 'colours' }).click()
  await page.getByRole('complementary', { name: 'Data set' }).getByText('/nothing/colours:v0').waitFor()
})

test('a filter that finds nothing has the command that asks again', async () => {
  const page = await open()
  const ofRun = `${home()}/runs/${demo.run.name}`
  const empty: Record<string, [title: string, command: string]> = {
    [`${home()}/runs?q=nobody`]: ['No run fits the filter', '/v1/preview/models?project=demo'],
    [`${home()}/datasets?q=nobody`]: ['No data set has this in its name', '-X PUT'],
    [`${home()}/runs/${demo.logged}?q=nobody`]: ['No metric has these words', '/metrics'],
    [`${home()}/weave/calls?q=nobody`]: ['No call fits the filter', '/traces/calls/stream_query'],
    [`${home()}/weave/calls?cost=9`]: ['No call of those that were read has this cost', '/traces/calls/stream_query'],
    [`${ofRun}?q=nobody`]: ['No metric has these words', '/metric-keys'],
    [`${ofRun}/trajectories?step=6&q=nobody`]: ['No conversation says this', '/trajectory-matches?step=6&text=nobody'],
    [`${ofRun}/trajectories?step=6&since=900`]: ['No prompt is in step 900', '/trajectories?step=900'],
  }
  const check = (path: string) => missing(page, ...empty[path]!)
  expect(await visit(page, Object.keys(empty), check)).toEqual([])
  await page.goto(`${home()}/runs?q=nobody`)
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await page.getByText('3 runs').waitFor()
  await page.goto(`${home()}/weave/calls?q=nobody`)
  await page.getByRole('button', { name: 'Clear all filters' }).last().click()
  await page.getByText('3 calls').waitFor()
})

test('an entity with nothing has the command that begins', async () => {
  const page = await open({ key: await addKey(world.database.pool, 'newcomers', 'admin') })
  const empty: Record<string, string> = {
    '/': 'No projects yet',
    '/newcomers/usage': 'Nothing was used in these days',
  }
  const check = (path: string) => missing(page, empty[path]!, 'npm run demo')
  expect(await visit(page, Object.keys(empty), check)).toEqual([])
})

/** A webhook with deliveries. Nothing is sent: that is the work of the operator, and this server has none. */
async function addWebhook(): Promise<string> {
  const id = randomUUID()
  await world.database.pool.query(
    `INSERT INTO training.webhooks (id, entity, url, events, sealed_secret, key_id)
     SELECT $1, $2, 'http://127.0.0.1:9/', $3, '', (SELECT id FROM auth.api_keys WHERE entity = $2 LIMIT 1)`,
    [id, world.entity, ['training_job.queued', 'training_job.running']],
  )
  await world.rest.call('POST', `/v1/preview/webhooks/${id}/replay`, { after_position: 0 })
  return id
}

test('a list of which a part is shown says of how much', async () => {
  const page = await open()
  // What the server lists, repeated without an end.
  const pages = new Map<string, { data: { id: string }[] }>()
  await page.route(ofScreens, async (route) => {
    const { pathname, searchParams } = new URL(route.request().url())
    const isOther = ['state', 'name'].some((filter) => searchParams.has(filter))
    if (route.request().method() !== 'GET' || isOther) return route.continue()
    if (!pages.has(pathname)) pages.set(pathname, (await (await route.fetch()).json()) as { data: { id: string }[] })
    const answer = pages.get(pathname)!
    if (answer.data?.[0] === undefined) return route.fulfill({ json: answer })
    const data = Array.from({ length: 100 }, (_, at) => ({ ...answer.data[at % answer.data.length], id: randomUUID() }))
    const total = searchParams.has('max_total') ? { total: 8_412 } : {}
    return route.fulfill({ json: { ...answer, data, has_more: true, last_id: data.at(-1)!.id, ...total } })
  })
  const ofRun = `${home()}/runs/${demo.run.name}`
  const parts: Record<string, string> = {
    '/': '2,000 of 8,412 projects',
    [`${home()}/runs`]: '2,000 of 8,412 runs',
    [`${ofRun}/checkpoints`]: '2,000 of 8,412 checkpoints',
    [`${ofRun}/jobs`]: '500 of 8,412 jobs',
    [`${ofRun}/trajectories?step=6`]: '2,000 of 8,412 trajectories',
    [`${home()}/jobs/${demo.jobs.succeeded}`]: 'The newest 200 of more events',
    [`/${world.entity}/settings/keys`]: '2,000 of 8,412 keys',
    [`/${world.entity}/settings/webhooks?hook=${await addWebhook()}`]: '500 of 8,412 deliveries',
  }
  expect(await visit(page, Object.keys(parts), (path) => missing(page, parts[path]!))).toEqual([])
})

test('what cannot be read again stays, and says how old it is', async () => {
  const page = await open({ statuses: [failure.status] })
  await page.clock.install()
  let fails = false
  await page.route(ofScreens, (route) => (fails ? route.fulfill(failure) : route.continue()))
  const { entity } = world
  const ofRun = `${home()}/runs/${demo.run.name}`
  const shown: Record<string, string> = {
    '/': demo.project,
    [`${home()}/runs`]: demo.run.name,
    [`${ofRun}/checkpoints`]: '12 checkpoints',
    [`${ofRun}/jobs`]: '12 jobs',
    [`${home()}/jobs/${demo.jobs.running}`]: 'running',
    [`/${entity}/settings/keys`]: 'Last used',
    [`/${entity}/settings/limits`]: 'Unfinished jobs',
  }
  const faults = await visit(page, Object.keys(shown), async (path) => {
    fails = false
    const before = await missing(page, shown[path]!)
    fails = true
    // Who comes back to a tab after some time sees the newest state.
    await page.clock.fastForward(20_000)
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    const after = await missing(page, 'Nothing works today.', shown[path]!)
    fails = false
    return [...before, ...after]
  })
  expect(faults).toEqual([])
})

test('a key that may not see something says which one may', async () => {
  const page = await open({ key: await addKey(world.database.pool, world.entity, 'read'), statuses: [403] })
  const reported: Record<string, string> = {
    [`/${world.entity}/usage`]: 'Keys with the role member or admin see',
    [`/${world.entity}/settings/keys`]: 'Keys with the role admin list',
    [`/${world.entity}/settings/webhooks`]: 'Keys with the role member see them',
    '/somebody/demo': `Your key is of the entity ${world.entity}`,
  }
  expect(await visit(page, Object.keys(reported), (path) => missing(page, reported[path]!))).toEqual([])
})
