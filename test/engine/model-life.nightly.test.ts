import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { extract } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLocalConfig } from '../../local/config.ts'
import { installTrainerEnvironment } from '../../local/install/python-environment.ts'
import { Board } from '../../local/terminal/board.ts'
import { eventually } from '../support/eventually.ts'
import { podSelectors } from '../support/kill.ts'
import { listLoadedAdapters } from '../support/loaded-adapters.ts'
import { createRest, sampleGroup } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const run = promisify(execFile)
const stack = useStack()
const rest = createRest(stack)
const alternating = (_: string, index: number) => index % 2

let folder: string
// Its first step is enough for tests that do not delete it.
let trained: Awaited<ReturnType<typeof rest.createModel>>

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'model-life-'))
  trained = await rest.createModel()
  await train(trained)
})
afterAll(() => rm(folder, { recursive: true }))

async function train(model: { id: string; address: string }): Promise<void> {
  const group = await sampleGroup(rest, model.address, 'Tell me about the sea.', alternating)
  expect((await rest.waitForEnd(await rest.startJob(model.id, [group]))).at(-1)?.type).toBe('training_ended')
}

const download = async (url: string) => {
  const response = await rest.send('GET', url)
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

const chat = (model: string) =>
  rest.send('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'x' }], max_tokens: 1 })

// Loads an adapter on the base model. Prints how far its logits are from the base model's own.
const loadAdapter = `
import sys, torch
from peft import PeftModel
from transformers import AutoModelForCausalLM
base = AutoModelForCausalLM.from_pretrained(sys.argv[1])
tokens = torch.tensor([[1, 2, 3, 4]])
before = base(tokens).logits.detach().clone()
model = PeftModel.from_pretrained(base, sys.argv[2])
print(float((model(tokens).logits - before).abs().max()))
`

test('a trained checkpoint can be downloaded as files or as a tar, and PEFT loads it on the base model', async () => {
  const model = trained
  const url = `/v1/preview/models/${model.id}/checkpoints/latest`
  const files = await rest.call<{ data: { path: string; size: number; digest: string }[] }>('GET', `${url}/files`)
  const contents = new Map<string, Buffer>()
  for (const { path: name, size, digest } of files.data) {
    const bytes = await download(`${url}/files/${name}`)
    expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([size, digest])
    contents.set(name, bytes)
  }
  const { id } = (await rest.listCheckpoints(model.id))[0]!
  const weights = path.join(stack.artifacts, 'checkpoints', id, 'adapter_model.safetensors')
  expect(contents.get('adapter_model.safetensors')?.equals(await readFile(weights))).toBe(true)

  for await (const entry of Readable.from([await download(`${url}/archive`)]).pipe(extract())) {
    const name = path.basename(entry.header.name)
    const bytes = await buffer(entry)
    expect(bytes.equals(contents.get(name) ?? Buffer.alloc(0))).toBe(true)
    await writeFile(path.join(folder, name), bytes)
  }
  const context = { config: readLocalConfig(), board: new Board(), signal: new AbortController().signal }
  const { python } = await installTrainerEnvironment(context)
  const { stdout } = await run(python, ['-c', loadAdapter, 'trainer/models/tiny-chat', folder])
  expect(Number(stdout)).toBeGreaterThan(0)
})

test('a deleted model is removed from the engine and the store, and is no longer served', async () => {
  const model = await rest.createModel()
  await train(model)
  const { id } = (await rest.listCheckpoints(model.id))[0]!
  expect(await listLoadedAdapters(stack)).toContain(id)
  expect((await chat(model.address)).status).toBe(200)

  await rest.call('DELETE', `/v1/preview/models/${model.id}`)
  expect((await chat(model.address)).status).toBe(404)
  await eventually(async () => {
    expect(await listLoadedAdapters(stack)).not.toContain(id)
    expect(existsSync(path.join(stack.artifacts, 'checkpoints', id))).toBe(false)
  })
  // The engine has freed its memory too.
  expect(await stack.kubectl('logs', '-l', podSelectors.engine, '--tail=-1')).not.toContain('stays in memory')
})

test('a model shows how many engines have its newest step, and its resource too', async () => {
  const model = trained
  const url = `/v1/preview/models/${model.id}`
  await eventually(async () => expect(await rest.call('GET', url)).toMatchObject({ loaded_engines: 1 }), 10_000)
  const wide = await stack.kubectl('get', 'tym', '-l', `trainyard.dev/id=${model.id}`, '-o', 'wide', '--no-headers')
  expect(wide).toContain(' 1/1 ')
})

test('an alias is served and can be moved at once, and a deleted step is unloaded while others stay', async () => {
  const model = trained
  await train(model)
  const [first, second] = await rest.listCheckpoints(model.id)
  const path1 = `/v1/preview/models/${model.id}`
  await rest.call('PUT', `${path1}/aliases/prod`, { step: 1 })
  const answer = await chat(`${model.address}:prod`)
  expect([answer.status, await answer.json()]).toMatchObject([200, { model: `${model.address}:prod` }])
  await rest.call('PUT', `${path1}/aliases/prod`, { step: 2 })
  expect(await rest.call('DELETE', `${path1}/checkpoints`, { steps: [1] })).toMatchObject({ deleted_count: 1 })
  await eventually(async () => expect(await listLoadedAdapters(stack)).not.toContain(first?.id))
  expect((await chat(`${model.address}:prod`)).status).toBe(200)
  expect(await listLoadedAdapters(stack)).toContain(second?.id)

  const fork = await rest.call<{ id: string; name: string; entity: string }>('POST', `${path1}/fork`, {})
  const address = `${fork.entity}/tests/${fork.name}`
  expect((await chat(`${address}:step2`)).status).toBe(200)
  await train({ id: fork.id, address })
  expect((await rest.listCheckpoints(fork.id)).map(({ step }) => step)).toEqual([2, 3])
})
