import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { bringUpStack } from '../support/global-setup.ts'
import { createRest } from '../support/rest.ts'
import { withBenchServer, type BenchServer } from './bench-server.ts'
import { withFakeEngine } from './fake-engine.ts'
import { writeBody } from './ingest-body.ts'
import { readMemoryMb } from './memory.ts'
import { median, percentile, round, type BenchResult } from './result.ts'
import type { UploadReport, UploadTask } from './uploader.ts'

const rounds = 3
const sizes = { '100mb': 100 * 1024 * 1024, '256mb': 256 * 1024 * 1024 - 3 * 1024 * 1024 }
const probeEveryMs = 10
const idleMs = 4_000

type Phase = 'idle' | 'uploading' | 'checking'

/** Requests that are sent all the time: chats, and health, which needs only the process itself. */
type Questions = Record<'chat' | 'health', () => Promise<unknown>>

/** Latencies by request and by phase. */
interface Probe {
  phase: Phase
  latenciesMs: Record<keyof Questions, Record<Phase, number[]>>
}

/**
 * One client sends large bodies of jobs as fast as it can, while others chat through the same process (with an engine
 * that answers at once). Measures the delay of the chats and the memory of the process.
 */
export async function benchIngest(): Promise<BenchResult> {
  const { handle, tearDown } = await bringUpStack(false)
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-bench-'))
  try {
    return await withBenchServer(handle, (server) => withFakeEngine(server, (model) => measure(server, model, folder)))
  } finally {
    await rm(folder, { recursive: true, force: true })
    await tearDown()
  }
}

async function measure(server: BenchServer, model: string, folder: string): Promise<BenchResult> {
  const rest = createRest({ url: server.url, apiKey: server.apiKey, baseModel: model })
  const { id } = await rest.createModel()
  const figures: Record<string, number> = {}
  const rises: number[] = []
  const chat = () => rest.sample(model, 'Hello.')
  const health = () => rest.call('GET', '/v1/health')
  for (let warm = 0; warm < 200; warm++) await Promise.all([chat(), health()])
  for (const [name, bytes] of Object.entries(sizes)) {
    const file = path.join(folder, 'body.json')
    figures[`${name}_body_mb`] = round((await writeBody(file, id, bytes)) / 1e6)
    const seen = await runRounds(server, file, { chat, health })
    rises.push(seen.riseMs)
    Object.assign(figures, Object.fromEntries(seen.figures.map(([key, value]) => [`${name}_${key}`, round(value)])))
  }
  return { ratios: { worst_p99_rise_ms: round(Math.max(...rises)) }, figures }
}

/** Alternates idle and uploading phases, so that other load of the machine affects both. */
async function runRounds(server: BenchServer, file: string, questions: Questions) {
  const none = () => ({ idle: [], uploading: [], checking: [] })
  const probe: Probe = { phase: 'idle', latenciesMs: { chat: none(), health: none() } }
  const stop = new AbortController()
  const probing = keepAsking(probe, questions, stop.signal)
  // The rejection is handled at the end, where the promise is awaited.
  probing.catch(() => {})
  const memory: { beforeMb: number; peakMb: number }[] = []
  const times: { uploadMs: number; totalMs: number }[] = []
  const uploader = new Worker(new URL('uploader.ts', import.meta.url))
  for (let index = 0; index < rounds; index++) {
    await delay(idleMs)
    const beforeMb = await readMemoryMb(server.pid, 'VmRSS')
    // Resets the kernel's peak.
    await writeFile(`/proc/${server.pid}/clear_refs`, '5')
    times.push(await upload(uploader, server, file, probe))
    process.stderr.write(`round ${index + 1} of ${rounds}: ${JSON.stringify(times.at(-1))}\n`)
    memory.push({ beforeMb, peakMb: await readMemoryMb(server.pid, 'VmHWM') })
  }
  stop.abort()
  await probing
  await uploader.terminate()
  const { idle, uploading } = probe.latenciesMs.chat
  const riseMs = percentile(uploading, 0.99) - percentile(idle, 0.99)
  const figures: [string, number][] = [
    ...Object.entries(probe.latenciesMs).flatMap(([question, phases]) =>
      Object.entries(phases).flatMap(([phase, latenciesMs]): [string, number][] => [
        [`${question}_${phase}_count`, latenciesMs.length],
        [`${question}_${phase}_p50_ms`, median(latenciesMs)],
        [`${question}_${phase}_p99_ms`, percentile(latenciesMs, 0.99)],
      ]),
    ),
    ['upload_ms', median(times.map(({ uploadMs }) => uploadMs))],
    ['answer_ms', median(times.map(({ totalMs }) => totalMs))],
    ['rss_before_mb', median(memory.map(({ beforeMb }) => beforeMb))],
    ['rss_peak_mb', Math.max(...memory.map(({ peakMb }) => peakMb))],
  ]
  return { riseMs, figures }
}

async function keepAsking(probe: Probe, questions: Questions, signal: AbortSignal): Promise<void> {
  const asking = new Set<Promise<void>>()
  while (!signal.aborted) {
    for (const question of ['chat', 'health'] as const) {
      const asked = timeAnswer(probe.latenciesMs[question][probe.phase], questions[question])
      asking.add(asked)
      asked.then(
        () => asking.delete(asked),
        () => {},
      )
    }
    await delay(probeEveryMs)
  }
  await Promise.all(asking)
}

async function timeAnswer(latenciesMs: number[], ask: () => Promise<unknown>): Promise<void> {
  const startMs = performance.now()
  await ask()
  latenciesMs.push(performance.now() - startMs)
}

async function upload(uploader: Worker, server: BenchServer, file: string, probe: Probe) {
  const startMs = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<{ uploadMs: number; totalMs: number }>()
  let uploadMs = 0
  const listen = (report: UploadReport) => {
    if (report.event === 'sent') {
      uploadMs = performance.now() - startMs
      probe.phase = 'checking'
      return
    }
    probe.phase = 'idle'
    if (report.status === 200) resolve({ uploadMs, totalMs: performance.now() - startMs })
    else reject(new Error(`the upload was answered by ${report.status}: ${report.text}`))
  }
  uploader.on('message', listen)
  probe.phase = 'uploading'
  const task: UploadTask = { url: `${server.url}/v1/preview/training-jobs`, apiKey: server.apiKey, file }
  const noTransfer: [] = []
  uploader.postMessage(task, noTransfer)
  return promise.finally(() => uploader.off('message', listen))
}
