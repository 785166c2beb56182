import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createConsoleLink } from '../../apiserver/accounts/admin/console-command.ts'
import { revealHidden } from '../../console/logic/chat.ts'
import { formatCompact, formatCount, formatMetric, mean, standardDeviation } from '../../console/logic/numbers.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { launchBrowser, useBrowser } from '../support/browser.ts'
import { listArtFolders } from '../support/client-python.ts'
import { listenToPython } from '../support/client-scripts.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

interface SentTrajectory {
  scenario: string
  call: string
  reward: number
  answer: string
  tokens: [string, number][]
}

/** What ART sent. */
interface Sent {
  project: string
  run: string
  model_id: string
  steps: { step: number; reward: number; trajectories: SentTrajectory[] }[]
  validations: { step: number; reward: number }[]
  jobs: { suspended: string; waiting: string }
}

const steps = 12
const since = 3

const stack = useStack()
const browser = useBrowser(launchBrowser)
const entity = `team-${randomUUID().slice(0, 8)}`
let pool: Pool
let key: string
let rest: Rest
let sent: Sent
/** The links that ART, weave and wandb have printed. */
let links: string[]
let home: string
let ofRun: string

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  key = await addKey(pool, entity, 'admin')
  rest = createRest(stack, key)
  await rest.call('PUT', '/v1/preview/limits/token-statistics', { token_statistics: 'all' })
  const env = {
    WANDB_API_KEY: key,
    WEAVE_PRINT_CALL_LINK: 'true',
    TRAINYARD_BASE_MODEL: stack.baseModel,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    STEPS: `${steps}`,
  }
  const [packages = ''] = await listArtFolders()
  const script = { packages, scripts: 'art', env, timeoutMs: 580_000 }
  const { facts, printed } = await listenToPython<Sent>(stack, 'traced_run', script)
  sent = facts
  links = printed.match(/http:\/\/[\w./:?=&%-]+/g)?.filter((link) => link.startsWith(`${stack.url}/`)) ?? []
  home = `/${entity}/${sent.project}`
  ofRun = `${home}/runs/${sent.run}`
})
afterAll(async () => {
  for (const job of Object.values(sent?.jobs ?? {})) await rest.call('POST', `/v1/preview/training-jobs/${job}/cancel`)
  await pool.end()
})

const open = (path: string) => browser.open({ url: stack.url, path, key })
const ofStep = (step: number) => sent.steps.find((each) => each.step === step)!.trajectories
const rewardsOf = (step: number, scenario: string) =>
  ofStep(step).flatMap((each) => (each.scenario === scenario ? [each.reward] : []))
const writeTokens = ({ tokens }: SentTrajectory) =>
  tokens.map(([text, logprob]) => `${revealHidden(text)} ${formatMetric(logprob)}`)

/** The cells of a table, without its head. */
async function readRows(table: Locator): Promise<string[][]> {
  const [, ...rows] = await table.getByRole('row').all()
  return Promise.all(rows.map((row) => row.getByRole('cell').allInnerTexts()))
}

async function countTrainedTokens(): Promise<number> {
  const path = `/v1/preview/usage?project=${sent.project}`
  const { data } = await rest.call<{ data: { trained_tokens: number }[] }>('GET', path)
  return data[0]!.trained_tokens
}

async function readTokens(page: Page, side: 'then' | 'now'): Promise<string[]> {
  const [label, ...tokens] = await page
    .getByRole('list', { name: `Tokens ${side}` })
    .getByRole('listitem')
    .all()
  expect(await label!.innerText()).toBe(side)
  return Promise.all(
    tokens.map(async (token) =>
      [await token.locator('code').textContent(), await token.locator('small').textContent()].join(' '),
    ),
  )
}

test('six clicks lead to the prompt that rose most, to both its trajectories by token, and to why a job waits', async () => {
  const link = await createConsoleLink(pool, { entity, role: 'member', url: stack.url })
  // Before the login, nobody is logged in.
  const page = await browser.open({ url: stack.url, path: link.slice(stack.url.length), statuses: [401] })
  let clicks = 0
  const click = async (target: Locator) => {
    clicks++
    await target.click()
  }
  await click(page.getByRole('link', { name: sent.project }))
  await click(page.getByRole('link', { name: sent.run }).filter({ hasText: `step ${steps}` }))
  await click(page.getByRole('link', { name: 'Trajectories' }))
  clicks++
  await page.getByLabel('Rise since step').selectOption(`${since}`)
  const table = page.getByRole('table', { name: 'Prompts' })
  await table.waitFor()
  const rises = [...new Set(ofStep(steps).map(({ scenario }) => scenario))].map((scenario) => {
    const [before, after] = [mean(rewardsOf(since, scenario))!, mean(rewardsOf(steps, scenario))!]
    return { scenario, before, after, rise: after - before }
  })
  const most = Math.max(...rises.map(({ rise }) => rise))
  expect(most).toBeGreaterThan(0)
  const rows = await readRows(table)
  const shownRises = rows.map((cells) => cells[3])
  const write = (rise: number) => (rise > 0 ? '+' : '') + formatMetric(rise)
  expect(shownRises).toEqual(
    rises
      .map(({ rise }) => rise)
      .toSorted((a, b) => b - a)
      .map(write),
  )
  const wanted = rises.map(({ scenario, before, after, rise }) => [
    scenario,
    [formatMetric(before), formatMetric(after), write(rise)],
  ])
  expect(Object.fromEntries(rows.map(([scenario, ...cells]) => [scenario!, cells]))).toEqual(Object.fromEntries(wanted))
  const found = rows[0]![0]!
  await click(table.getByRole('row').nth(1).getByRole('link'))
  const [worst, best] = [Math.min(...rewardsOf(since, found)), Math.max(...rewardsOf(steps, found))]
  const reported = `From step ${since} with reward ${formatMetric(worst)} to step ${steps} with reward ${formatMetric(best)}`
  await page.getByText(reported).waitFor()
  const sides = [
    ['then', since, worst],
    ['now', steps, best],
  ] as const
  for (const [side, step, reward] of sides) {
    const own = ofStep(step).filter((each) => each.scenario === found && each.reward === reward)
    expect(own.map(writeTokens)).toContainEqual(await readTokens(page, side))
  }
  await click(page.getByRole('link', { name: 'Overview' }))
  await page.getByText('Waits for 1 job of its model before it').waitFor()
  expect(clicks).toBeLessThanOrEqual(6)
})

test('the charts have the rewards that ART trained on and logged, at their steps', async () => {
  const page = await open(ofRun)
  const chart = page.getByRole('figure').filter({ hasText: 'val/reward' })
  await chart.getByRole('button', { name: 'Table' }).click()
  const table = chart.getByRole('region', { name: 'Values' })
  const heads = await table.getByRole('columnheader').allInnerTexts()
  const rows = await readRows(table)
  const column = (name: string) => {
    const at = heads.indexOf(name)
    return rows.flatMap(([step, ...cells]) =>
      cells[at - 1] === '–' ? [] : [{ step: Number(step), reward: Number(cells[at - 1]) }],
    )
  }
  // Both are means of the same rewards, rounded to three digits.
  const closeTo = (all: readonly { step: number; reward: number }[]) =>
    all.map(({ step, reward }) => ({ step, reward: expect.closeTo(reward, 2) as number })).toReversed()
  expect(column('reward')).toEqual(closeTo(sent.steps.map(({ step, reward }) => ({ step, reward }))))
  expect(column('val/reward')).toEqual(closeTo(sent.validations))
})

describe('a trajectory', () => {
  let trajectory: SentTrajectory
  let address: string

  test('is among those of its step, with the advantage that its reward has in its group', async () => {
    const inOwn = (each: SentTrajectory) => rewardsOf(1, each.scenario)
    const said = sent.steps.flatMap(({ trajectories }) => trajectories.map(({ answer }) => answer))
    const countOf = (each: SentTrajectory) => said.filter((answer) => answer === each.answer).length
    // Of one that is no better than its group, nothing is learned. The one that is said most often is the hardest to find.
    trajectory = ofStep(1)
      .filter((each) => each.reward > mean(inOwn(each))!)
      .toSorted((a, b) => countOf(b) - countOf(a))[0]!
    const page = await open(`${ofRun}/trajectories?step=1&order=reward`)
    const rows = page.getByRole('table', { name: 'Trajectories' })
    await page.getByText(`${ofStep(1).length} trajectories in`).waitFor()
    const rewards = (await readRows(rows)).map((cells) => cells[2])
    const wanted = ofStep(1).map(({ reward }) => reward)
    expect(rewards).toEqual(wanted.toSorted((a, b) => b - a).map(formatMetric))
    const { data } = await rest.call<{ data: { id: string; trajectory_index: number }[] }>(
      'GET',
      `/v1/preview/models/${sent.model_id}/trajectories?step=1&scenario_id=${trajectory.scenario}&limit=100`,
    )
    const index = ofStep(1)
      .filter(({ scenario }) => scenario === trajectory.scenario)
      .indexOf(trajectory)
    const { id } = data.find((each) => each.trajectory_index === index)!
    address = `${ofRun}/trajectories/${id}`
    await page.goto(address)
    await page.getByText(trajectory.answer).first().waitFor()
    const advantage = page.getByRole('definition').nth(1)
    const rewardsOfOwn = inOwn(trajectory)
    const deviation = standardDeviation(rewardsOfOwn)!
    expect(Number(await advantage.innerText())).toBeCloseTo((trajectory.reward - mean(rewardsOfOwn)!) / deviation, 2)
  })

  test('has statistics of each token that ART sampled, and its advantage made them likelier', async () => {
    const page = await open(`${address}?overlay=advantage`)
    const tokens = page.getByRole('group', { name: /^Tokens/ }).locator('span')
    await expect.poll(() => tokens.count(), { timeout: 60_000 }).toBe(trajectory.tokens.length)
    const signs = await tokens.evaluateAll((all) => all.map((each) => each.getAttribute('data-sign')))
    expect(new Set(signs)).toEqual(new Set(['1']))
    for (const [index, [, logprob]] of trajectory.tokens.entries()) {
      await tokens.nth(index).hover()
      const loss = page.getByRole('complementary', { name: 'The loss of a token' })
      const old = loss.locator('div').filter({ hasText: 'old log p' }).getByRole('definition')
      await expect.poll(() => old.innerText()).toContain(formatMetric(logprob))
    }
  })

  test('leads to the call of its rollout, and to its chat and back', async () => {
    const page = await open(address)
    const siblings = page.getByRole('complementary', { name: 'Siblings' })
    await siblings.getByRole('link', { name: `call ${trajectory.call.slice(0, 8)}` }).click()
    await page.getByRole('heading', { name: 'roll_out' }).waitFor()
    await page.goto(address)
    await siblings.getByRole('button', { name: 'Find its chats in the traces' }).click()
    const chats = siblings.getByRole('link', { name: /^turn 2/ })
    await chats.first().waitFor()
    // With the same weights and prompt, the same answer has the same log-probabilities.
    const same = ofStep(1).filter((each) => isDeepStrictEqual(each.tokens, trajectory.tokens))
    expect(await chats.count()).toBe(same.length)
    await chats.first().click()
    await page.getByRole('heading', { name: 'openai.chat.completions.create' }).waitFor()
    const tree = page.getByRole('treegrid', { name: 'Calls of the trace' }).getByRole('row')
    expect(await tree.count()).toBe(2)
    const chat = page.url()
    await tree.first().click()
    await page.waitForURL((url) => same.some(({ call }) => url.pathname.endsWith(call)))
    await page.goto(chat)
    await page.getByRole('button', { name: 'trajectories', exact: true }).click()
    await page
      .getByRole('link', { name: /^step 1, / })
      .first()
      .click()
    await page.getByText(trajectory.answer).first().waitFor()
  })
})

test('the links that ART, weave and wandb print open their pages', async () => {
  const paths = [...new Set(links.map((link) => link.slice(stack.url.length)))]
  const ofCalls = paths.filter((path) => path.startsWith(`${home}/r/call/`))
  const calls = sent.steps.flatMap(({ trajectories }) => trajectories.map(({ call }) => `${home}/r/call/${call}`))
  expect(ofCalls).toEqual(expect.arrayContaining(calls))
  const page = await open(ofCalls.at(-1)!)
  await page.getByRole('heading', { name: 'roll_out' }).waitFor()
  const headings: Record<string, string> = { [home]: sent.project, [`${home}/weave`]: 'Traces', [ofRun]: sent.run }
  const others = paths.filter((path) => !ofCalls.includes(path))
  expect(others.toSorted()).toEqual(Object.keys(headings).toSorted())
  for (const path of others) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1, name: headings[path]! }).waitFor()
  }
})

// Each training step gathers all prompts, each third one a few more, and the last jobs are made of one more gathering.
const countCalls = () =>
  sent.steps.length * ofStep(1).length + (sent.validations.length * ofStep(1).length) / 3 + ofStep(1).length

describe('the other screens', () => {
  test('the overview counts the requests of ART, the calls of weave and the tokens of the trainer', async () => {
    const page = await open(home)
    const figures = page.getByLabel('Usage of the last 30 days')
    await figures.getByText(formatCompact(countCalls()), { exact: true }).waitFor()
    // A rollout and its chat.
    await page.getByText(`${formatCount(2 * countCalls())} calls`).waitFor()
    const trained = await countTrainedTokens()
    expect(trained).toBeGreaterThan(0)
    await figures.getByText(formatCompact(trained), { exact: true }).waitFor()
    await page.goto(`/${entity}/usage?measure=trained_tokens`)
    await page.getByRole('table', { name: 'Usage' }).getByText(formatCount(trained)).first().waitFor()
  })

  test('the run is in the table of runs with its step, its reward and the best of its validations', async () => {
    const page = await open(`${home}/runs`)
    const row = page.getByRole('table', { name: 'Runs' }).getByRole('row').filter({ hasText: sent.run })
    const best = Math.max(...sent.validations.map(({ reward }) => reward))
    const wanted = [steps, sent.steps.at(-1)!.reward, best]
    await expect
      .poll(async () => {
        const numbers = (await row.getByRole('cell').allInnerTexts()).map(Number)
        return wanted.filter((value) => !numbers.some((number) => Math.abs(number - value) < 0.001))
      })
      .toEqual([])
  })

  test('the table of traces finds the rollouts, and a trace shows its chat, but not the key of its model', async () => {
    const page = await open(`${home}/weave/calls?op=roll_out`)
    await page
      .getByText(`${formatCount(countCalls())} calls`)
      .first()
      .waitFor()
    const { call, answer } = ofStep(1)[0]!
    await page.goto(`${home}/weave/calls/${call}?tab=inputs+and+output`)
    await page.getByText('inference_api_key').first().waitFor()
    await page.getByText('*'.repeat(key.length)).first().waitFor()
    expect(await page.locator('#root').innerText()).not.toContain(key)
    await page.getByRole('treegrid', { name: 'Calls of the trace' }).getByRole('row').nth(1).click()
    await page.getByRole('heading', { name: 'openai.chat.completions.create' }).waitFor()
    await page.goto(new URL(page.url()).pathname)
    await page.getByText(answer).first().waitFor()
  })

  test('a trajectory of ART becomes a row of a data set, which has its screen', async () => {
    const { data } = await rest.call<{ data: { id: string }[] }>(
      'GET',
      `/v1/preview/models/${sent.model_id}/trajectories?step=${steps}&limit=1`,
    )
    const page = await open(`${ofRun}/trajectories/${data[0]!.id}`)
    await page.getByRole('button', { name: 'To data set' }).click()
    await page.getByLabel('Data set', { exact: true }).fill('chosen')
    await page.getByRole('button', { name: 'Copy it' }).click()
    await page.getByText('chosen is at version 0, with 1 row.').waitFor()
    await page.goto(`${home}/datasets`)
    await page.getByRole('table', { name: 'Data sets' }).getByText('chosen').waitFor()
  })

  test('the newest checkpoint answers in the playground, beside the base model and with the same seed', async () => {
    const names = [`wandb-artifact:///${entity}/${sent.project}/${sent.run}:step${steps}`, stack.baseModel]
    const page = await open(`${home}/playground?m=${names.join(',')}&seed=7`)
    await page.getByLabel('Prompt', { exact: true }).fill('Name a colour.')
    await page.getByRole('button', { name: 'Send to 2 models' }).click()
    for (const name of names)
      await page
        .getByRole('region', { name })
        .getByText(/\d+ tokens · \d+ tokens of prompt/)
        .waitFor({ timeout: 60_000 })
  })
})

describe('a job', () => {
  test('of ART is in the list with its step and its checkpoint', async () => {
    const page = await open(`${ofRun}/jobs`)
    await page.getByText(`${steps + 2} jobs`).waitFor()
    const rows = await readRows(page.getByRole('table', { name: 'Training jobs' }))
    expect(rows.slice(2).map((cells) => cells[3])).toEqual(sent.steps.map(({ step }) => `${step}`).toReversed())
    expect(rows.slice(0, 2).map((cells) => cells[1])).toEqual([
      expect.stringContaining('Queued'),
      expect.stringContaining('Suspended'),
    ])
    await page.goto(`${ofRun}/checkpoints`)
    await page.getByText(`${steps} checkpoints`).waitFor()
  })

  test('that waits says why, and is cancelled', async () => {
    const page = await open(`${home}/jobs/${sent.jobs.waiting}`)
    const reason = page.getByRole('status').filter({ hasText: 'Why it waits: place 2' })
    await reason.getByText(/1 job of its model is before it, which is Suspended.*resume or cancel/).waitFor()
    await reason.getByRole('link', { name: `job ${sent.jobs.suspended.slice(0, 8)}` }).waitFor()
    const settings = page.locator('[data-given=true]')
    expect(await settings.allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/learning_rate\s+0\.003/), expect.stringMatching(/ppo\s+true/)]),
    )
    await page.getByRole('button', { name: 'Cancel job' }).click()
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByText('Cancelled').first().waitFor()
  })
})
