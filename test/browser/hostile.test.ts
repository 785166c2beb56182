import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { newId } from '../../apiserver/tracing/ids.ts'
import { recordLog } from '../../db/jobs/logs.ts'
import { recordEvents } from '../../db/jobs/reports.ts'
import { useBrowser } from '../support/browser.ts'
import { useStack } from '../support/stack.ts'
import { upsertRun } from '../support/wandb.ts'
import { createRun, useWorld, type HeldJob, type TestRun } from './world.ts'

const stack = useStack()
const world = useWorld(stack)
const browser = useBrowser()

/** Texts that become code or elements where a page does not treat them as texts. */
const corpus = [
  '<img src=x data-xss onerror="globalThis.xss=1">',
  '<script data-xss>globalThis.xss=1</script>',
  '"><svg data-xss onload=globalThis.xss=1>',
  "'-alert(1)-'",
  '</title></textarea></style><b data-xss>',
  '<iframe data-xss srcdoc="<script>alert(1)</script>"></iframe>',
  '<a data-xss href="javascript:alert(1)">a</a>',
  '[a](javascript:alert(1)) ![b](https://evil.example/b.png)',
  '<math><mtext><style><img data-xss src=x onerror=alert(1)></style></mtext></math>',
  '{{constructor.constructor("alert(1)")()}} ${alert(1)}',
  '__proto__',
  '\u202Egnp.exe\u200B\u0007',
]
const all = corpus.join(' ')
const safeText = '<img src=x data-xss'

let run: TestRun
let failed: HeldJob
let home: string
let traced: string

beforeAll(async () => {
  run = await createRun(world, stack, 'mine', 'hostile-run')
  home = `/${world.entity}/mine`
  await run.queueGroups(corpus.map(makeGroup))
  const trained = await run.claim(1)
  await trained.step({ loss: 1, ...Object.fromEntries(corpus.map((text) => [text, 1])) })
  await trained.finish({ reward: 1, ...Object.fromEntries(corpus.map((text) => [`${text} in all`, 1])) })
  await run.queueGroups([makeGroup(all)])
  failed = await run.claim(1)
  await recordEvents(world.database.pool, failed.attempt, [
    { seq: 1, type: all.slice(0, 60), data: { error_message: all } },
  ])
  const line = { seq: 1, time: new Date().toISOString(), level: 'info', text: all } as const
  await recordLog(world.database.pool, failed.attempt, [line])
  await failed.fail(all)
  traced = await sendCall()
  const api = { url: world.server.url, key: world.key }
  await upsertRun(api, {
    modelName: 'mine',
    name: 'logged',
    displayName: all,
    groupName: all,
    jobType: all,
    tags: corpus,
    config: JSON.stringify({ [all]: { value: corpus } }),
    summaryMetrics: JSON.stringify({ [all]: corpus }),
  })
})

/** Sends a call with the texts in each of its fields. */
async function sendCall(): Promise<string> {
  const ids = { project_id: `${world.entity}/mine`, id: newId() }
  const texts = { op_name: all, display_name: all, thread_id: all.slice(0, 200), attributes: { [all]: corpus } }
  const inputs = { messages: [{ role: all, content: all }], [all]: corpus }
  const start = { ...ids, ...texts, trace_id: newId(), started_at: '2026-11-21T10:00:00Z', inputs }
  const summary = { usage: { [all]: { prompt_tokens: 1 } } }
  const end = { ...ids, ended_at: '2026-11-21T10:00:01Z', output: all, exception: all, summary }
  await world.rest.call('POST', '/call/start', { start })
  await world.rest.call('POST', '/call/end', { end })
  return ids.id
}

/** A group with the text in each field that a client fills. */
function makeGroup(text: string) {
  const call = { id: text, type: 'function', function: { name: text, arguments: JSON.stringify({ [text]: text }) } }
  const trajectory = (reward: number) => ({
    messages_and_choices: [
      { role: text, content: text, name: text },
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: 'javascript:alert(1)' } },
        ],
      },
      {
        finish_reason: text,
        index: 0,
        message: { role: 'assistant', content: text, reasoning_content: text, tool_calls: [call] },
        logprobs: { content: [{ token: text, logprob: -1, bytes: null, top_logprobs: [] }] },
      },
      { role: 'tool', tool_call_id: text, content: text },
    ],
    reward,
    metrics: { [text.slice(0, 100)]: reward },
    metadata: { scenario_id: text, [text]: text },
    logs: [text],
    tools: [{ type: 'function', function: { name: text, description: text } }],
  })
  return {
    trajectories: [trajectory(0), trajectory(1)],
    exceptions: [{ type: text, message: text, traceback: text }],
    metadata: { [text]: text },
  }
}

/** What a text has made of the page. */
const traces = `({
  elements: document.querySelectorAll('[data-xss], iframe, object, embed, math, #root script, #root img').length,
  links: [...document.links].filter(({ protocol }) => !/^https?:$/.test(protocol)).length,
  script: typeof globalThis.xss,
})`

async function expectTexts(page: Page) {
  const found = page.locator('#root').getByText(safeText).filter({ visible: true }).first()
  await found.waitFor({ timeout: 15_000 }).catch(async (cause: unknown) => {
    const seen = await page.evaluate<string>('document.body.innerText')
    throw new Error(`${page.url()} shows no hostile text, but:\n${seen.slice(0, 1_000)}`, { cause })
  })
  expect(await page.evaluate(traces)).toEqual({ elements: 0, links: 0, script: 'undefined' })
}

test('what strangers write is text on every screen', async () => {
  const { server, key, rest } = world
  const { data } = await rest.call<{ data: { id: string }[] }>(
    'GET',
    `/v1/preview/models/${run.id}/trajectories?step=1&limit=2`,
  )
  const [first, second] = data.map(({ id }) => id)
  const ofRun = `${home}/runs/${run.name}`
  const page = await browser.open({ url: server.url, path: '/login', key, statuses: [404, 422] })
  for (const path of [
    home,
    ofRun,
    `${ofRun}?x=gradient+step`,
    `${ofRun}/trajectories?step=1`,
    `${ofRun}/trajectories?step=1&order=reward&peek=${first}`,
    `${ofRun}/trajectories?step=1&scenario=${encodeURIComponent(corpus[0]!)}`,
    `${ofRun}/trajectories/${first}`,
    `${ofRun}/trajectories/${first}?diff=${second}`,
    `${ofRun}/jobs`,
    `${home}/runs`,
    `${home}/runs/logged`,
    `${home}/jobs/${failed.id}`,
    ...['chat', 'exception', 'inputs+and+output', 'usage', 'attributes'].map(
      (tab) => `${home}/weave/calls/${traced}?tab=${tab}`,
    ),
    // What an address says is shown too.
    `${home}/runs?q=${encodeURIComponent(all)}&sort=${encodeURIComponent(all)}&cols=${encodeURIComponent(all)}`,
    `${home}/runs/${encodeURIComponent(corpus[0]!)}`,
    `/${world.entity}/${encodeURIComponent(corpus[0]!)}`,
  ]) {
    await page.goto(path)
    if (path.includes('/runs?q=')) await page.getByText('No run fits the filter').waitFor()
    else await expectTexts(page)
  }
  // Hidden characters, and those that reorder text, are shown by their numbers.
  await page.goto(`${home}/jobs/${failed.id}`)
  await page.getByText('⟨202e⟩').first().waitFor()
})
