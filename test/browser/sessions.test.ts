import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addKey } from '../support/api-server.ts'
import { useBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { useStack } from '../support/stack.ts'
import { trainRun } from './demo.ts'
import { createRun, useWorld, type TestRun } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()
const statuses = [401]

let run: TestRun
let home: string

beforeAll(async () => {
  run = await createRun(world, stack, 'mine', 'secret-run')
  await trainRun(run, 1)
  home = `/${world.entity}/mine`
})

/** Opens the overview with a key of its own. */
async function openOverview(expected: object = {}) {
  const { server, database, entity } = world
  const key = await addKey(database.pool, entity, 'member')
  const page = await browser.open({ url: server.url, path: home, key, statuses, ...expected })
  await page.getByText('secret-run').first().waitFor()
  const answer = await page.request.get('/v1/preview/session')
  return { page, keyId: ((await answer.json()) as { key_id: string }).key_id }
}

describe('a session', () => {
  test('ends when a person logs out, and the page before is empty', async () => {
    const { page } = await openOverview()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.goBack()
    await page.getByLabel('API key').waitFor()
    expect(await page.getByText('secret-run').count()).toBe(0)
  })

  test('that was not used for long leads to the login, and back', async () => {
    const { page, keyId } = await openOverview()
    await world.database.pool.query(
      `UPDATE auth.sessions SET used_at = now() - interval '13 hours' WHERE key_id = $1`,
      [keyId],
    )
    await eventually(async () => {
      await page.goto(`${home}/runs`)
      await page.getByLabel('API key').waitFor({ timeout: 1_000 })
    })
    await page.getByLabel('API key').fill(world.key)
    await page.keyboard.press('Enter')
    await page.getByRole('table', { name: 'Runs' }).waitFor()
    expect(page.url()).toBe(`${world.server.url}${home}/runs`)
  })

  test('ends with its key, while its page is open', async () => {
    const { page, keyId } = await openOverview()
    await page.getByText('Live', { exact: true }).waitFor()
    await world.rest.send('DELETE', `/v1/preview/keys/${keyId}`)
    // The stream ends at once. The browser asks for it again after some seconds, and the page shows the login.
    await page.getByLabel('API key').waitFor()
    expect(await page.getByText('secret-run').count()).toBe(0)
  })
})

describe('a page of another origin', () => {
  let other: Server
  let url: string
  beforeAll(async () => {
    const page = (action: string) => `<!doctype html><title>other</title>
<form method="post" enctype="text/plain" action="${action}"><input name='{"role":"admin","a":"' value='"}'></form>
<script>document.forms[0].submit()</script>`
    other = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end(page(`${world.server.url}/v1/preview/keys`)),
    ).listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  })
  afterAll(() => other.close())

  const countKeys = async () => (await world.database.pool.query('SELECT FROM auth.api_keys')).rowCount

  test('makes no key with the cookie of the browser, which sends it', async () => {
    const hosts = [url, world.server.url].map((each) => new URL(each).host)
    const { page } = await openOverview({ hosts, statuses: [403] })
    const before = await countKeys()
    const answered = page.waitForResponse((response) => response.url().endsWith('/v1/preview/keys'))
    await page.goto(url).catch(() => {})
    const answer = await answered
    expect([answer.request().method(), answer.status()]).toEqual(['POST', 403])
    expect((await answer.request().allHeaders())['cookie']).toMatch(/^ty_session=/)
    expect(await countKeys()).toBe(before)
  })
})

describe('the key of another entity', () => {
  test.each<[string, () => string, string, number[]]>([
    ['their project', () => home, 'Your key is of the entity', []],
    ['their run', () => `${home}/runs/${run.name}`, 'Your key is of the entity', []],
    ['their run below its own name', () => `/stranger/mine/runs/${run.name}`, 'has no run secret-run', []],
  ])('opens no page of %s', async (_, pathOf, says, expected) => {
    await expectNothing(pathOf(), says, expected)
  })

  test('opens no job and no trajectory by its id', async () => {
    const list = async (path: string) => (await world.rest.call<{ data: { id: string }[] }>('GET', path)).data[0]!.id
    const job = await list('/v1/preview/training-jobs?limit=1')
    const trajectory = await list(`/v1/preview/models/${run.id}/trajectories?limit=1`)
    await expectNothing(`/stranger/mine/jobs/${job}`, 'This does not exist', [404])
    await expectNothing(`/stranger/mine/runs/x/trajectories/${trajectory}`, 'has no run x', [404])
  })

  async function expectNothing(path: string, says: string, expected: number[]) {
    const key = await addKey(world.database.pool, 'stranger', 'admin')
    const page = await browser.open({ url: world.server.url, path, key, statuses: expected })
    await page.getByText(says).first().waitFor()
    const text = await page.evaluate<string>('document.body.innerText')
    expect(text).not.toMatch(/is nice|to me\.|Name a colour|step 1/)
  }
})
