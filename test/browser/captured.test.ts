import { beforeAll, expect, test } from 'vitest'
import { captureExchange, captureJudged, judge, protocols } from '../support/captured.ts'
import { useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { createRun, makeTrajectory, useWorld, type TestRun } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

const prompt = 'Which colour is warm?'
const answer = 'Orange is warm.'
const answerOf = (protocol: string) => `${answer} (${protocol})`

let run: TestRun
let home: string
/** The trajectories of the run, in the order of the job. */
let ids: string[]

beforeAll(async () => {
  run = await createRun(world, stack, 'captured', 'agent')
  home = `/${world.entity}/captured/runs/${run.name}/trajectories`
  const model = `wandb-artifact:///${world.entity}/captured/${run.name}`
  const edited = captureExchange('chat_completions', { model, prompt: 'Name another one.', answer: 'Red.' })
  const first = captureExchange('chat_completions', { model, prompt, answer })
  const trajectories = [
    ...protocols.map((protocol) => ({
      exchanges: captureJudged(protocol, { model, prompt, answer: answerOf(protocol) }),
      reward: 1,
    })),
    { exchanges: { chat_completions: [first, edited] }, reward: 0.5 },
    { exchanges: { chat_completions: [judge] } },
    makeTrajectory({ prompt, answer, reward: 0 }),
  ]
  await run.queueGroups([{ trajectories }])
  const job = await run.claim(1)
  await job.finish({ loss: 1, reward: 0.5 })
  const listed = `/v1/preview/models/${run.id}/trajectories`
  ids = (await world.rest.call<{ data: { id: string }[] }>('GET', listed)).data.map(({ id }) => id)
})

const open = (path: string) => browser.open({ url: world.server.url, path, key: world.key })

test('a captured trajectory has the texts of its conversation in each protocol, and not those of a judge', async () => {
  for (const [index, protocol] of protocols.entries()) {
    const page = await open(`${home}/${ids[index]}`)
    const turns = page.locator('li[data-sampled]')
    await page.getByText(answerOf(protocol), { exact: true }).waitFor()
    expect([protocol, await turns.count()]).toEqual([protocol, 2])
    expect(await turns.allInnerTexts()).toEqual([
      expect.stringContaining(prompt),
      expect.stringContaining(answerOf(protocol)),
    ])
    expect(await page.locator('li[data-sampled="true"]').count()).toBe(1)
    await page.close()
  }
})

test('its tokens have the colours of their log-probabilities, where the protocol has their texts', async () => {
  const page = await open(`${home}/${ids[0]}?overlay=old+log-probability`)
  const tokens = page.getByRole('group', { name: /^Tokens/ }).locator('span')
  await expect.poll(() => tokens.allInnerTexts()).toEqual(['Orange', ' is', ' warm.', ' (chat_completions)'])
  const other = await open(`${home}/${ids[3]}?overlay=old+log-probability`)
  await other.getByText(answerOf('messages'), { exact: true }).waitFor()
})

test('several histories stand one after the other', async () => {
  const page = await open(`${home}/${ids[4]}`)
  await page.getByText('History 2').waitFor()
  const turns = await page.locator('li[data-sampled]').allInnerTexts()
  expect(turns.map((turn) => turn.split('\n').at(-1))).toEqual([prompt, answer, 'Name another one.', 'Red.'])
})

test('a trajectory without an exchange with the model says so', async () => {
  const page = await open(`${home}/${ids[5]}`)
  await page.getByText('None of its exchanges is with this model').waitFor()
})

test('a captured trajectory is shown beside the list, compared, continued and copied', async () => {
  const beside = await open(`${home}?peek=${ids[0]}`)
  const peek = beside.getByRole('complementary', { name: 'Trajectory' })
  await peek.getByText(answerOf('chat_completions'), { exact: true }).waitFor()
  const compared = await open(`${home}/${ids[0]}?diff=${ids[6]}`)
  await compared.getByText('the same').first().waitFor()
  expect(await compared.locator('ins').allInnerTexts()).toEqual([' (chat_completions)'])
  const page = await open(`${home}/${ids[0]}`)
  await page.getByRole('button', { name: 'To data set' }).click()
  await page.getByLabel('Data set', { exact: true }).fill('chosen')
  await page.getByRole('button', { name: 'Copy it' }).click()
  await page.getByText('chosen is at version 0, with 1 row.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'To playground' }).click()
  await page.getByText('Before turn 1 of 2').waitFor()
  await page.getByRole('region', { name: 'The conversation so far' }).getByText(prompt).waitFor()
})
