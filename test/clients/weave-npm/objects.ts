// Objects, datasets, prompts, images and evaluations through npm weave.

import { crc32, deflateSync } from 'node:zlib'
import { Dataset, Evaluation, EvaluationLogger, MessagesPrompt, ObjectRef, WeaveObject, op, weaveImage } from 'weave'
import { begin, end, nameOf } from './session.ts'

const client = await begin()

const rows = Array.from({ length: 5000 }, (_, number) => ({ number, word: `w${number % 10}` }))
const dataset = new Dataset({ name: 'numbers', rows })
const saved = await dataset.save()
const readBack = (await client.get(saved)) as Dataset<{ number: number }>
let sum = 0
let count = 0
for await (const row of readBack) {
  sum += (row as { number: number }).number
  count += 1
}

class Settings extends WeaveObject {
  temperature: number
  constructor(temperature: number) {
    super({ name: 'settings' })
    this.temperature = temperature
  }
}
const settings = await client.publish(new Settings(0.5), 'settings')
const again = await client.publish(new Settings(0.5), 'settings')
const other = await client.publish(new Settings(1), 'settings')
const prompt = new MessagesPrompt({ name: 'saying', messages: [{ role: 'user', content: 'Say {word}.' }] })
const promptRef = await client.publish(prompt)
const promptBack = await MessagesPrompt.get(client, promptRef.uri())

const paint = op(async () => weaveImage({ data: png(), imageType: 'png' }), { name: 'paint' })
await paint()
const predict = op(async ({ datasetRow }: { datasetRow: { number: number } }) => 2 * datasetRow.number, {
  name: 'predict',
  parameterNames: 'useParam0Object',
})
const exact = op(
  async ({ datasetRow, modelOutput }: { datasetRow: { target: number }; modelOutput: number }) =>
    datasetRow.target === modelOutput,
  { name: 'exact', parameterNames: 'useParam0Object' },
)
const targets = new Dataset({ name: 'targets', rows: [1, 2, 3].map((number) => ({ number, target: number + 2 })) })
const evaluation = new Evaluation({ name: 'doubling', dataset: targets, scorers: [exact] })
const result = await evaluation.evaluate({ model: predict })

const byHand = new EvaluationLogger({ name: 'by hand', dataset: 'mine', model: { name: 'hand' } })
const logged = byHand.logPrediction({ number: 1 }, 2)
await logged.logScore('right', true)
await logged.finish()
await byHand.logSummary({ mood: 'fine' })
await client.waitForBatchProcessing()

const calls = await client.getCalls()
const counts: Record<string, number> = {}
for (const call of calls) counts[nameOf(call.op_name)] = (counts[nameOf(call.op_name)] ?? 0) + 1
const painted = calls.find((call) => nameOf(call.op_name) === 'paint')!.output as unknown as { files: object }

await end(client, {
  rows: { count, sum, length: readBack.length },
  same_digest: settings.digest === again.digest,
  settings: ((await client.get(settings)) as Settings).temperature,
  latest: ((await client.get(new ObjectRef(client.projectId, 'settings', 'latest'))) as Settings).temperature,
  by_uri: ((await client.get(ObjectRef.fromUri(other.uri()))) as Settings).temperature,
  prompt: promptBack.format({ word: 'tide' }),
  image: Object.keys(painted.files),
  result: { ...result, model_latency: typeof result['model_latency'] },
  counts,
})

/** An image of one grey pixel. */
function png(): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    checksum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, checksum])
  }
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  const pixels = deflateSync(Buffer.from([0, 128]))
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}
