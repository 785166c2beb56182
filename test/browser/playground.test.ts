import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import { addKey } from '../support/api-server.ts'
import { useBrowser } from '../support/browser.ts'
import { useFakeEngine } from '../support/own-gateway.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const browser = useBrowser()
const model = 'talker'
const entity = 'talking-team'

interface Asked {
  messages: { role: string; content: string }[]
  seed?: number
}

/** What the engine was asked, and how the answer to `slowly` goes on. */
const asked: Asked[] = []
let goOn = () => {}

const own = useFakeEngine(stack, {
  model,
  answer: async (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.startsWith('/v1/chat/completions')) return response.writeHead(200).end('{"data": []}')
    const body = (await json(request)) as Asked
    asked.push(body)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const isSlow = asked.length % 2 === 1
    write(response, { delta: { role: 'assistant' } })
    if (isSlow) await new Promise<void>((resolve) => (goOn = resolve))
    for (const word of isSlow ? ['slow', ' words'] : ['<b>quick</b>', ' words']) {
      const logprobs = { content: [{ token: word, logprob: -0.5, bytes: [...Buffer.from(word)], top_logprobs: [] }] }
      write(response, { delta: { content: word }, logprobs })
    }
    write(response, { delta: {}, finish_reason: 'stop' })
    write(response, undefined, { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 })
    return response.end('data: [DONE]\n\n')
  },
})

function write(response: ServerResponse, choice: object | undefined, usage?: object): void {
  const choices = choice ? [{ index: 0, finish_reason: null, ...choice }] : []
  const chunk = { id: 'chat', object: 'chat.completion.chunk', created: 0, model, choices, ...(usage && { usage }) }
  response.write(`data: ${JSON.stringify(chunk)}\n\n`)
}

let key: string
beforeAll(async () => {
  key = await addKey(own.database.pool, entity, 'admin')
})

const open = (path: string, more: { key?: string; statuses?: number[] } = {}) =>
  browser.open({ url: own.server.url, path, key, ...more })

test('models answer the same prompt beside each other: a slow one delays no other, and is stopped', async () => {
  const page = await open(`/${entity}/demo/playground?m=${model}&m=${model}&seed=5`)
  const panes = page.getByRole('region', { name: model })
  await page.getByLabel('Prompt', { exact: true }).fill('Name a colour.')
  await page.getByRole('button', { name: 'Send to 2 models' }).click()
  await page.getByText('<b>quick</b> words').waitFor()
  await page.getByText('2 tokens · 7 tokens of prompt').waitFor()
  expect(await page.getByText('Waiting for the first token').count()).toBe(1)
  expect(asked).toMatchObject([{ seed: 5 }, { seed: 5, messages: [{ role: 'user', content: 'Name a colour.' }] }])
  await page.getByText('quick').hover()
  await page.getByText('log-probability -0.5').or(page.getByText('log-probability −0.500')).first().waitFor()
  await panes.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByText('stopped').waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe(`?m=${model},${model}&prompt=Name+a+colour.&seed=5`)
  goOn()
  // The next prompt goes on with the conversation of each pane.
  await page.getByLabel('Prompt', { exact: true }).fill('And another?')
  await page.getByRole('button', { name: 'Send to 2 models' }).click()
  await expect.poll(() => asked.length).toBe(4)
  const lengths = asked.slice(2).map(({ messages }) => messages.length)
  expect(lengths.toSorted((a, b) => a - b)).toEqual([1, 3])
  goOn()
  const saving = page.waitForEvent('download')
  await page.getByText('slow words').waitFor()
  await page.getByText('JSONL').click()
  expect((await saving).suggestedFilename()).toBe('playground.jsonl')
})

test('an error is in its pane, with the id of its request', async () => {
  const page = await open(`/${entity}/demo/playground?m=${model},nobody/knows-it`, { statuses: [404] })
  await page.getByLabel('Prompt', { exact: true }).fill('Hello')
  await page.getByRole('button', { name: 'Send to 2 models' }).click()
  const pane = page.getByRole('region', { name: 'nobody/knows-it' })
  await pane.getByText('The model nobody/knows-it does not exist.').waitFor()
  expect(await pane.getByText(/^request /).textContent()).toMatch(/request \S{8}/)
  goOn()
})

test('an admin makes a key that is shown once, and revokes it; other roles read what they may not do', async () => {
  const page = await open('/settings')
  await page.getByRole('button', { name: 'Create a key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('ci')
  await dialog.getByRole('button', { name: 'Create the key' }).click()
  const made = await dialog.locator('pre').textContent()
  const check = async () =>
    (await fetch(`${own.server.url}/v1/preview/session`, { headers: { authorization: `Bearer ${made}` } })).status
  expect(await check()).toBe(200)
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  const row = page.getByRole('row').filter({ hasText: 'ci' })
  await row.getByText('works').waitFor()
  await expect.poll(() => page.content()).not.toContain(made)
  await row.getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByRole('button', { name: 'Revoke it' }).click()
  await row.getByText('revoked').waitFor()
  expect(await check()).toBe(401)
  const reader = await open(`/${entity}/settings/keys`, { key: await addKey(own.database.pool, entity, 'read') })
  await reader.getByText('Your key may not see other keys').waitFor()
  await reader.getByRole('link', { name: 'Usage' }).click()
  await reader.getByText('Your key may not see the usage').waitFor()
  await reader.getByRole('link', { name: 'Settings' }).click()
  await reader.getByRole('link', { name: 'Limits' }).click()
  await reader.getByText('Unfinished jobs').waitFor()
})

test('the usage of the chats is shown by model and by key', async () => {
  const page = await open(`/${entity}/usage?by=model`)
  await page.getByRole('cell', { name: model }).waitFor()
  await page.getByRole('button', { name: 'key', exact: true }).click()
  await page.getByText('Requests by key').waitFor()
})
