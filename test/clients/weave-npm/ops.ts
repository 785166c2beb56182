// Ops of every kind through npm weave: nested, generators, errors, display names, attributes. The script prints what it
// reads back.

import { op, withAttributes, type CallSchema } from 'weave'
import { begin, end, nameOf } from './session.ts'

const client = await begin()

const double = op(async (number: number) => 2 * number, { name: 'double', parameterNames: ['number'] })
const outer = op(
  async (number: number, note: string) => ({ sum: (await double(number)) + (await double(number + 1)), note }),
  { name: 'outer', parameterNames: ['number', 'note'] },
)
const stream = op(
  async function* stream(words: string[]) {
    for (const word of words) yield word
  },
  {
    name: 'stream',
    parameterNames: ['words'],
    streamReducer: {
      initialStateFn: () => ({ text: '' }),
      reduceFn: (state: { text: string }, word: string) => ({ text: state.text + word }),
      finalizeFn: () => undefined,
    },
  },
)
const fail = op(
  async (why: string) => {
    throw new Error(why)
  },
  { name: 'fail', parameterNames: ['why'] },
)
const ask = op(
  async (model: string) => ({ model, usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }),
  {
    name: 'ask',
    parameterNames: ['model'],
    callDisplayName: (model) => `ask ${model}`,
    summarize: ({ model, usage }) => ({ usage: { [model]: { requests: 1, ...usage } } }),
  },
)

const note = 'täglich ☂ \u2028 \u007f'
await outer(3, note)
let streamed = ''
// The declared type needs no await. The value is a promise.
const words: AsyncIterable<string> = await Promise.resolve(stream(['one ', 'two']))
for await (const word of words) streamed += word
await fail('no such luck').catch(() => undefined)
await withAttributes({ tenant: 'blue' }, async () => {
  await ask('tide-1')
})
for (let number = 0; number < 30; number += 1) await double(100 + number)
await client.waitForBatchProcessing()

const summaryOf = (call: CallSchema) => call.summary as Record<string, Record<string, unknown>>
const calls: CallSchema[] = []
for await (const call of client.getCallsIterator({}, true)) calls.push(call)
const byId = new Map(calls.map((call) => [call.id, call]))
const find = (name: string) => calls.find((call) => nameOf(call.op_name) === name)!
const few = calls.filter(({ inputs }) => !((inputs as { number?: number }).number! >= 100))
const ofDouble = await client.getCalls({ op_names: [find('double').op_name] })
const [, invoked] = await double.invoke(1)
await client.waitForBatchProcessing()
await invoked.setDisplayName('renamed')
await client.waitForBatchProcessing()
const asked = await client.getCall(find('ask').id)

await end(client, {
  streamed,
  calls: few
    .map((call) => ({
      op: nameOf(call.op_name),
      name: call.display_name ?? null,
      parent: call.parent_id ? nameOf(byId.get(call.parent_id)!.op_name) : null,
      inputs: call.inputs,
      output: call.output ?? null,
      exception: call.exception ?? null,
      status: summaryOf(call)['weave']!['status'],
    }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  tenant: (find('ask').attributes as { tenant?: string }).tenant,
  usage: summaryOf(find('ask'))['usage'],
  countOfDouble: ofDouble.length,
  limited: (await client.getCalls({}, false, 5)).length,
  allEnded: calls.every(({ ended_at }) => !Number.isNaN(new Date(ended_at!).getTime())),
  read: { id: asked.id === find('ask').id, output: asked.output },
  renamed: (await client.getCall(invoked.id)).display_name,
})
