import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { createRest } from '../support/rest.ts'
import { withBenchServer, type BenchServer } from './bench-server.ts'
import { withFakeEngine } from './fake-engine.ts'
import { atMost, defineBench, medians, takeTurns, type Figures } from './harness.ts'
import { percentile } from './statistics.ts'

const probeEveryMs = 10
const idleMs = 4_000
const tokensPerTrajectory = 2_000
const trajectoriesPerGroup = 16

/**
 * One client sends large bodies of jobs as fast as it can, while others chat through the same process (with an engine that
 * answers at once): how much later the chats are answered.
 */
export const ingest = defineBench({
  stack: 'control',
  counts: { megabytes: 253, rounds: 3 },
  goals: { chat_p99_rise_ms: atMost(20) },
  measure: async ({ stack, counts }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-bench-'))
    const file = path.join(folder, 'body.json')
    const work = (server: BenchServer) =>
      withFakeEngine(server, async (model) => {
        const rest = createRest({ url: server.url, apiKey: server.apiKey, baseModel: model })
        const { id } = await rest.createModel()
        await writeBody(file, id, counts.megabytes * 2 ** 20)
        const chat = () => rest.sample(model, 'Hello.')
        for (let warm = 0; warm < 200; warm++) await chat()
        return measure(server, { file, chat, rounds: counts.rounds })
      })
    try {
      return await withBenchServer(stack, work)
    } finally {
      await rm(folder, { recursive: true })
    }
  },
})

interface Upload {
  file: string
  chat: () => Promise<unknown>
  rounds: number
}

/** Chats alone and beside an upload, alternately. */
async function measure(server: BenchServer, { file, chat, rounds }: Upload): Promise<Figures> {
  const measured = await takeTurns(rounds, {
    idle: async () => ({ chat_p99_ms: await chatBeside(chat, () => delay(idleMs)) }),
    uploading: async () => {
      return { chat_p99_ms: await chatBeside(chat, () => uploadFile(server, file)) }
    },
  })
  const rises = measured.uploading.map((found, index) => ({
    chat_p99_rise_ms: found['chat_p99_ms']! - measured.idle[index]!['chat_p99_ms']!,
  }))
  return { ...medians(measured.idle, 'idle_'), ...medians(measured.uploading, 'uploading_'), ...medians(rises) }
}

/** Chats a hundred times a second while `work` goes on. Returns the p99 in milliseconds. */
async function chatBeside(chat: () => Promise<unknown>, work: () => Promise<unknown>) {
  const [chats, latenciesMs]: [Promise<void>[], number[]] = [[], []]
  const timeChat = async () => {
    const startMs = performance.now()
    await chat()
    latenciesMs.push(performance.now() - startMs)
  }
  const timer = setInterval(() => chats.push(timeChat()), probeEveryMs)
  await work().finally(() => clearInterval(timer))
  await Promise.all(chats)
  return percentile(latenciesMs, 0.99)
}

/** A file to send as the body of a job. */
interface UploadTask {
  url: string
  apiKey: string
  file: string
}

/** Uploads in a thread of its own, so that the chats are timed by one that does nothing else. */
async function uploadFile({ url, apiKey }: BenchServer, file: string): Promise<void> {
  const task: UploadTask = { url: `${url}/v1/preview/training-jobs`, apiKey, file }
  const worker = new Worker(new URL(import.meta.url), { workerData: task })
  const [code] = (await once(worker, 'exit')) as [number]
  if (code !== 0) throw new Error('the upload failed')
}

async function send({ url, apiKey, file }: UploadTask): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const { size } = await stat(file)
  const sent = request(url, { method: 'POST', headers: { ...headers, 'content-length': size } })
  createReadStream(file).pipe(sent)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  for await (const _ of response);
  if (response.statusCode !== 200) throw new Error(`the upload was answered by ${response.statusCode}`)
}

if (!isMainThread) await send(workerData as UploadTask)

/** Writes a job's body of at least `bytes`: groups of 16 trajectories of 2,000 sampled tokens with their logprobs. */
async function writeBody(file: string, modelId: string, bytes: number): Promise<void> {
  const out = createWriteStream(file)
  let size = 0
  out.write(`{"model_id":"${modelId}","trajectory_groups":[`)
  for (let group = 0; size < bytes; group++) {
    const trajectories = Array.from({ length: trajectoriesPerGroup }, (_, index) => makeTrajectory(group, index))
    const text = `${group > 0 ? ',' : ''}${JSON.stringify({ trajectories, exceptions: [] })}`
    size += text.length
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end(']}')
  await once(out, 'finish')
}

function makeTrajectory(group: number, index: number): object {
  const tokens = Array.from(
    { length: tokensPerTrajectory },
    (_, at) => 1_000 + ((group * 31 + index * 7 + at) % 150_000),
  )
  const content = tokens.map((token) => ({
    token: `token_id:${token}`,
    bytes: [104, 105],
    logprob: -(token % 997) / 331,
    top_logprobs: [],
  }))
  const message = { role: 'assistant', content: 'word '.repeat(tokens.length) }
  const choice = { finish_reason: 'stop', index: 0, logprobs: { content, refusal: null }, message, token_ids: tokens }
  return {
    messages_and_choices: [{ role: 'user', content: `Solve task ${group}.` }, choice],
    reward: index / trajectoriesPerGroup,
    metrics: { accuracy: index % 2 === 0, duration: 0.61 },
    metadata: { scenario_id: `task-${group}` },
  }
}
