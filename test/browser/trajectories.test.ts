import { text } from 'node:stream/consumers'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createConsoleLink } from '../../apiserver/accounts/admin/console-command.ts'
import { newId } from '../../apiserver/tracing/ids.ts'
import { findViolations, useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { makeDemo, trainMeasured, type Demo } from './demo.ts'
import { createRun, makeTrajectory, useWorld, type Rollout } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

let demo: Demo
let home: string
beforeAll(async () => {
  demo = await makeDemo(world, stack)
  home = `/${world.entity}/${demo.project}`
})

const open = (path: string, more: { statuses?: number[] } = {}) =>
  browser.open({ url: world.server.url, path, key: world.key, ...more })

test('six clicks lead to the prompt that rose most, to both its trajectories by token, and to why a job waits', async () => {
  const { entity, server, database } = world
  const link = await createConsoleLink(database.pool, { entity, role: 'member', url: server.url })
  // Before the login, nobody is logged in.
  const page = await browser.open({ url: server.url, path: link.slice(server.url.length), statuses: [401] })
  let clicks = 0
  const click = async (target: Locator) => {
    clicks++
    await target.click()
  }
  await click(page.getByRole('link', { name: demo.project }))
  await click(page.getByRole('link', { name: demo.run.name }))
  await click(page.getByRole('link', { name: 'Trajectories' }))
  clicks++
  await page.getByLabel('Rise since step').selectOption('3')
  const table = page.getByRole('table', { name: 'Prompts' })
  await table.waitFor()
  const [head, ...rows] = await table.getByRole('row').all()
  expect(await head!.innerText()).toMatch(/Step 3\s+Step 12\s+Rise/)
  const found = await Promise.all(rows.map((row) => row.getByRole('cell').allInnerTexts()))
  const rises = found.map(([, , , rise]) => Number(rise!.replace('−', '-')))
  expect(rises).toEqual(rises.toSorted((a, b) => b - a))
  expect(rises[0]).toBeGreaterThan(0)
  await click(rows[0]!.getByRole('link'))
  await page.getByText('From step 3 with reward 0 to step 12 with reward 1').waitFor()
  for (const side of ['then', 'now'])
    expect(
      await page
        .getByRole('list', { name: `Tokens ${side}` })
        .getByRole('listitem')
        .count(),
    ).toBeGreaterThan(2)
  await click(page.getByRole('link', { name: 'Overview' }))
  await page.getByText('Waits for 1 job of its model before it').waitFor()
  expect(clicks).toBeLessThanOrEqual(6)
})

describe('the tokens of a trajectory', () => {
  let ids: string[]
  let ofRun: string

  beforeAll(async () => {
    const run = await trainMeasured(world, stack, demo.project)
    ids = run.trajectories
    ofRun = `${home}/runs/${run.name}/trajectories`
  })

  const panel = (page: Page) => page.getByRole('complementary', { name: 'The loss of a token' })

  test('have the colours of each overlay, and the loss that trained the one under the pointer', async () => {
    const page = await open(`${ofRun}/${ids[0]}`)
    await page.getByRole('button', { name: 'advantage', exact: true }).click()
    expect(new URL(page.url()).searchParams.get('overlay')).toBe('advantage')
    const tokens = page.getByRole('group', { name: /^Tokens/ }).locator('span')
    await expect.poll(() => tokens.count()).toBe(3)
    expect(await tokens.evaluateAll((all) => all.map((each) => each.getAttribute('data-sign')))).toEqual([
      '1',
      '1',
      '1',
    ])
    await tokens.nth(1).hover()
    await expect.poll(() => panel(page).innerText()).toContain('Training made this token more likely.')
    expect(await panel(page).innerText()).toContain('−clip(r, 0, 5) × A × log p × w')
    expect(await panel(page).getByRole('definition').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringContaining('1.250'), expect.stringMatching(/^−0\.016/)]),
    )
    // By keyboard, to the last token.
    await page.getByRole('group', { name: /^Tokens/ }).focus()
    for (let times = 0; times < 4; times++) await page.keyboard.press('ArrowRight')
    await expect.poll(() => panel(page).innerText()).toContain('1.375')
    for (const name of ['ratio', 'old log-probability', 'new log-probability', 'entropy', 'clipped', 'masked']) {
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByRole('figure', { name: `Scale of ${name}` }).waitFor()
    }
    expect(await findViolations(page)).toEqual([])
  })

  test('that were not trained on say why', async () => {
    const page = await open(`${ofRun}/${ids[2]}?overlay=ratio`)
    await page.getByText('Dropped: one of its histories has more tokens').waitFor()
    const other = await open(`${home}/runs/${demo.run.name}/trajectories/${demo.trajectory}?overlay=ratio`)
    await other.getByText('{"token_statistics": "all"}').waitFor()
  })
})

test('a text is found in the conversations of a step, and its place opens beside the list', async () => {
  const page = await open(`${home}/runs/${demo.run.name}/trajectories?step=6`)
  await page.getByRole('searchbox', { name: 'Search text' }).fill('NICE')
  await page.getByText(/of 32 trajectories say it/).waitFor()
  expect(new URL(page.url()).searchParams.get('q')).toBe('NICE')
  await page.locator('mark').first().click()
  await page.getByRole('complementary', { name: 'Trajectory' }).getByText('You answer in one short').waitFor()
})

test('what a step learned from is ranked by push, and saved as it is shown', async () => {
  const page = await open(`${home}/runs/${demo.run.name}/trajectories?step=6`)
  await page.getByRole('button', { name: 'What did this step learn from?' }).click()
  await page.getByText(/half of all push/).waitFor()
  const saving = page.waitForEvent('download')
  await page.getByTitle('Download what is shown').click()
  const saved = await text(await (await saving).createReadStream())
  const lines = saved.trim().split('\n')
  const pushes = lines.map((line) => Math.abs((JSON.parse(line) as { push: number }).push))
  expect(pushes).toEqual(pushes.toSorted((a, b) => b - a))
  expect(pushes).toHaveLength(32)
})

/** Sends a chat as weave traces it. Returns the id of its call. */
async function sendChat(inputs: object, choice: unknown): Promise<string> {
  const ids = { project_id: `${world.entity}/${demo.project}`, id: newId() }
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  const op_name = 'openai.chat.completions.create'
  const start = { ...ids, trace_id: newId(), op_name, started_at: at(-2_000), attributes: {}, inputs }
  await world.rest.call('POST', '/call/start', { start })
  const end = { ...ids, ended_at: at(-1_000), output: { choices: [choice] }, summary: {} }
  await world.rest.call('POST', '/call/end', { end })
  return ids.id
}

test('a trajectory leads to the traced chat that it was made of and back, and becomes a row of a data set', async () => {
  const run = await createRun(world, stack, demo.project, 'traced')
  const rollout: Rollout = { prompt: 'Which colour is traced?', answer: 'Orange is nice.', reward: 1 }
  const [system, user, choice] = makeTrajectory(rollout).messages_and_choices
  const inputs = { model: `${world.entity}/${demo.project}/${run.name}`, messages: [system, user] }
  const own = await sendChat(inputs, choice)
  // It says the same, with other log-probabilities.
  const unlikely = { token: 'Orange is nice.', logprob: -9, bytes: null, top_logprobs: [] }
  await sendChat(inputs, { ...choice, logprobs: { content: [unlikely] } })
  await run.train([rollout, { ...rollout, answer: 'Blue.', reward: 0 }], { loss: 1, reward: 0.5 })
  const listed = `/v1/preview/models/${run.id}/trajectories?min_reward=1`
  const { data } = await world.rest.call<{ data: { id: string }[] }>('GET', listed)
  const page = await open(`${home}/runs/${run.name}/trajectories/${data[0]!.id}`)
  await page.getByRole('button', { name: 'Find its chats in the traces' }).click()
  const calls = page.getByRole('complementary', { name: 'Siblings' }).getByRole('link', { name: /^turn 3/ })
  await calls.first().waitFor()
  expect(await calls.count()).toBe(1)
  await page.getByRole('button', { name: 'To data set' }).click()
  await page.getByLabel('Data set', { exact: true }).fill('chosen')
  await page.getByRole('button', { name: 'Copy it' }).click()
  await page.getByText('chosen is at version 0, with 1 row.').waitFor()
  await page.keyboard.press('Escape')
  await calls.click()
  await page.waitForURL(`**/weave/calls/${own}*`)
  await page.getByRole('button', { name: 'trajectories', exact: true }).click()
  await page.getByRole('link', { name: 'step 1, 0/0' }).click()
  await page.waitForURL(`**/trajectories/${data[0]!.id}*`)
})

test('two large trajectories are compared in a worker, and the page shows what differs', async () => {
  const run = await createRun(world, stack, demo.project, 'large')
  const words = Array.from({ length: 150_000 }, (_, index) => `word${index}`)
  const prompts = [words, words.with(75_000, 'changed')].map((all) => all.join(' '))
  await run.train(
    prompts.map((prompt, reward) => ({ prompt, answer: 'Red is nice.', reward })),
    { loss: 1, reward: 0.5 },
  )
  const { data } = await world.rest.call<{ data: { id: string }[] }>('GET', `/v1/preview/models/${run.id}/trajectories`)
  const page = await open(home)
  const workers: string[] = []
  page.on('worker', (worker) => workers.push(worker.url()))
  await page.goto(`${home}/runs/${run.name}/trajectories/${data[1]!.id}?diff=${data[0]!.id}`)
  await page.locator('ins').getByText('changed').waitFor()
  expect(await page.locator('del').allTextContents()).toEqual(['word75000'])
  expect(workers).toHaveLength(1)
  expect(await page.evaluate<number>(`document.querySelector('#content').textContent.length`)).toBeLessThan(10_000)
  await page.getByRole('button', { name: 'End the comparison' }).click()
  await page.getByRole('button', { name: 'advantage', exact: true }).waitFor()
})

test('the palette goes to a run by its name and to a job by its id, and ? shows the keys', async () => {
  // The palette asks what an id names.
  const page = await open(home, { statuses: [404] })
  await page.getByText('Last runs').waitFor()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await help.getByText('One step back').waitFor()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  const field = page.getByRole('combobox')
  await page.keyboard.press('Control+k')
  await field.fill('other-')
  await page.getByRole('option', { name: /other-2026/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/runs\/other-20261121050211$/)
  await field.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await field.fill(`a job ${demo.jobs.failed}`)
  await page.getByRole('option', { name: /^job/ }).waitFor()
  expect(await findViolations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByText('The same job would fail again.').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page.waitForURL(/\/demo\/runs$/)
})

test('a key counts as soon as a dialog is closed, which the browser tells later', async () => {
  const page = await open(home)
  await page.getByText('Last runs').waitFor()
  await page.keyboard.press('?')
  await page.getByText('One step back').waitFor()
  // Both in one task: the dialog has the focus, and the event of its end has not come.
  await page.evaluate(`(() => {
    document.querySelector('dialog').close()
    const { activeElement } = document
    activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))
  })()`)
  await page.getByRole('dialog', { name: 'Go to' }).waitFor()
  await page.getByRole('combobox').fill('other-')
  await page.getByRole('option', { name: /other-2026/ }).waitFor()
})

test('charts have three axes, and a zoom asks for its part', async () => {
  const page = await open(`${home}/runs/${demo.run.name}`)
  const held = Promise.withResolvers<void>()
  await page.route(/metrics\?.*x=index/, async (route) => {
    await held.promise
    await route.continue()
  })
  await page
    .getByRole('img', { name: /at step 12/ })
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'gradient step', exact: true }).click()
  // No value has its place by step on the axis of gradient steps.
  await page.getByRole('img', { name: 'loss: no values yet.' }).waitFor()
  expect(await page.getByRole('img', { name: /at gradient step/ }).count()).toBe(0)
  held.resolve()
  const asked = page.waitForRequest((request) => /metrics\?.*x=index.*from=/.test(request.url()))
  const { x, y, width, height } = await measurePlot(page)
  await page.mouse.move(x + width * 0.2, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + width * 0.6, y + height / 2, { steps: 4 })
  await page.mouse.up()
  expect((await asked).url()).toMatch(/points=2000/)
  await page.getByRole('button', { name: /gradient step \d+ to/ }).waitFor()
})

/** Where the first chart by gradient steps is drawn. Numbers that arrive draw it again, after the next frame. */
async function measurePlot(page: Page) {
  const plot = page
    .getByRole('img', { name: /gradient step/ })
    .locator('.u-over')
    .first()
  await plot.waitFor()
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
  return vi.waitUntil(async () => (await plot.boundingBox()) ?? undefined, { timeout: 30_000 })
}
