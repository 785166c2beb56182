import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { renameModel, RenameModelStream } from './rename-model.ts'

const names = { engineName: '11111111-2222-4333-8444-555555555555', requestedName: 'wandb-artifact:///t/p/"n"' }
const renamed = JSON.stringify(names.requestedName)

async function passThrough(chunks: Buffer[]): Promise<string> {
  const parts = await Readable.from(chunks).pipe(new RenameModelStream(names)).toArray()
  return Buffer.concat(parts as Buffer[]).toString()
}

const event = (model: string) => `data: {"id":"c","choices":[{"delta":{"content":"é\\n\\ndata:"}}],"model":${model}}`
const engineName = JSON.stringify(names.engineName)

describe("a stream of the engine's events", () => {
  const received = `${event(engineName)}\n\n: ping\n\n${event(engineName)}\r\n\r\ndata: [DONE]\n\n`
  const passed = `${event(renamed)}\n\n: ping\n\n${event(renamed)}\r\n\r\ndata: [DONE]\n\n`

  test.each([1, 2, 7, 64, 10_000])("has the client's name in each event, in chunks of %i bytes", async (size) => {
    const bytes = Buffer.from(received)
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, at * size + size),
    )
    expect(await passThrough(chunks)).toBe(passed)
  })

  test('is passed on as soon as a line is complete', () => {
    const stream = new RenameModelStream(names)
    stream.write(`${event(engineName)}\ndata: {"mo`)
    expect(String(stream.read())).toBe(`${event(renamed)}\n`)
  })

  test('keeps what is no JSON, and a last line without an end', async () => {
    expect(await passThrough([Buffer.from('data: {"model":\n\ndata: {"model":1}')])).toBe(
      `data: {"model":\n\ndata: {"model":${renamed}}`,
    )
  })

  test("has the client's name in an error", async () => {
    const error = { error: { message: `The model ${names.engineName} failed` } }
    const text = await passThrough([Buffer.from(`data: ${JSON.stringify(error)}\n\n`)])
    expect(JSON.parse(text.slice(6))).toEqual({ error: { message: `The model ${names.requestedName} failed` } })
  })
})

test('a complete reply keeps its bytes but for the name', () => {
  const reply = `{"id":"c","model":"${names.engineName}","choices":[{"logprobs":{"content":[{"logprob":-1.0}]}}]}`
  expect(Buffer.from(renameModel(Buffer.from(reply), names)).toString()).toBe(
    `{"id":"c","choices":[{"logprobs":{"content":[{"logprob":-1.0}]}}],"model":${renamed}}`,
  )
})
