import { setTimeout as delay } from 'node:timers/promises'
import { createS3Client } from '../../lib/s3-client.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { streamFiles, upsertRun } from '../support/wandb.ts'
import { commitArtifact, createArtifact, linkFile, putManifest } from '../support/wandb-upload.ts'
import { withBenchServer, type BenchServer } from './bench-server.ts'
import { atLeast, atMost, defineBench, medians, ratioOf, takeTurns, type Figures } from './harness.ts'
import { measureMemory } from './processes.ts'
import { get, makeContent, presign, put, type Content } from './wandb/transfer.ts'

const runs = 20
const linesPerSecond = 1_000
const postsPerSecond = 2
const linesPerPost = linesPerSecond / runs / postsPerSecond
const project = 'bench'

/**
 * A file up and down on the wire of the wandb SDK and directly on the S3 server, alternately; and twenty runs that send their
 * lines twice a second.
 */
export const wandb = defineBench({
  stack: 'control',
  counts: { megabytes: 1024, rounds: 3, seconds: 30 },
  goals: {
    upload_vs_plain_put: atLeast(0.7),
    download_vs_plain_get: atLeast(0.7),
    memory_rise_mb: atMost(100),
    // Each of the twenty waits for its last answer.
    paced_lines_per_s: atLeast(0.98 * linesPerSecond),
    lost_lines: atMost(0),
  },
  measure: async ({ stack, counts }) => {
    const s3 = await startS3Server()
    Object.assign(process.env, s3.credentials)
    const store = { TRAINYARD_ARTIFACTS: `s3://${s3.bucket}/trainyard`, TRAINYARD_S3_ENDPOINT: s3.endpoint }
    const work = async (server: BenchServer) => ({
      ...(await measureRuns(server, counts.seconds)),
      ...(await measureArtifacts(server, s3, counts)),
    })
    try {
      return await withBenchServer(stack, work, { ...store, ...s3.credentials })
    } finally {
      await s3.stop()
    }
  },
})

async function measureArtifacts(
  server: BenchServer,
  s3: S3Server,
  { megabytes, rounds }: { megabytes: number; rounds: number },
): Promise<Figures> {
  let content: Content
  const speed = ({ up, down }: { up: number; down: number }) => ({
    up_mb_per_s: content.size / 1e6 / up,
    down_mb_per_s: content.size / 1e6 / down,
  })
  const client = createS3Client({ endpoint: s3.endpoint })
  const path = `/${s3.bucket}/plain`
  const measured = await takeTurns(rounds, {
    plain: async (round) => {
      content = makeContent(round === 0 ? 64 : megabytes)
      const up = await put(await presign(client, s3.endpoint, { method: 'PUT', path }), content)
      const down = await get(await presign(client, s3.endpoint, { method: 'GET', path }), content.size)
      return speed({ up, down })
    },
    ours: async (round) => {
      const { result, riseMb } = await measureMemory(server.pid, () => transfer(server, `file-${round}`, content))
      return { ...speed(result), memory_rise_mb: riseMb }
    },
  })
  return {
    upload_vs_plain_put: ratioOf(measured.ours, measured.plain, 'up_mb_per_s'),
    download_vs_plain_get: ratioOf(measured.ours, measured.plain, 'down_mb_per_s'),
    ...medians(measured.ours),
    memory_rise_mb: Math.max(...measured.ours.map(({ memory_rise_mb: mb }) => mb!)),
  }
}

/** Returns the seconds up and down. */
async function transfer({ url, apiKey: key }: BenchServer, name: string, content: Content) {
  const api = { url, key }
  const files = [{ path: 'file', md5: content.md5, size: content.size }]
  const id = await createArtifact(api, { project, name }, files)
  const { uploadUrl } = await linkFile(api, id, files[0]!)
  const up = await put(uploadUrl!, content)
  await putManifest(api, id, files)
  return { up, down: await get(await commitArtifact(api, id), content.size) }
}

interface Writer {
  name: string
  lines: number
}

async function measureRuns(server: BenchServer, seconds: number): Promise<Figures> {
  const writers = Array.from({ length: runs }, (_, index): Writer => ({ name: `run-${index}`, lines: 0 }))
  for (const { name } of writers) await upsertRun({ url: server.url, key: server.apiKey }, { modelName: project, name })
  const startMs = performance.now()
  // The runs do not send at the same moments.
  const write = async (writer: Writer, index: number) => {
    for (let post = 0; post < seconds * postsPerSecond; post++) {
      const dueMs = startMs + ((post + index / runs) * 1_000) / postsPerSecond
      await delay(Math.max(0, dueMs - performance.now()))
      await sendLines(server, writer, linesPerPost)
    }
  }
  await Promise.all(writers.map(write))
  const lines = writers.reduce((sum, writer) => sum + writer.lines, 0)
  return {
    paced_lines_per_s: (lines / (performance.now() - startMs)) * 1_000,
    lost_lines: await countLost(server, writers),
  }
}

async function sendLines(server: BenchServer, writer: Writer, count: number): Promise<void> {
  const content = Array.from({ length: count }, (_, index) => makeLine(writer.lines + index))
  await sendStream(server, writer.name, {
    'wandb-history.jsonl': { offset: writer.lines, content },
    'wandb-summary.json': { offset: 0, content: [content.at(-1)!] },
  })
  writer.lines += count
}

function makeLine(step: number): string {
  const [loss, reward, entropy, accuracy] = Array.from({ length: 4 }, () => Math.random())
  const time = { _runtime: step / 50, _timestamp: 1_790_000_000 + step / 50 }
  return JSON.stringify({ _step: step, ...time, loss, reward, 'train/entropy': entropy, 'val/accuracy': accuracy })
}

/** Sends again after a 429, as the SDK does. */
async function sendStream({ url, apiKey, entity }: BenchServer, run: string, files: object): Promise<void> {
  for (;;) {
    const { status } = await streamFiles({ url, key: apiKey }, { entity, project, run }, { files })
    if (status === 200) return
    if (status !== 429 && status < 500) throw new Error(`lines were answered by ${status}`)
    await delay(1_000)
  }
}

/** How many lines are not there exactly once, at their places. */
async function countLost({ pool }: BenchServer, writers: Writer[]): Promise<number> {
  const { rows } = await pool.query<{ name: string; lines: number; last: number }>(
    `SELECT r.name, count(*)::integer AS lines, max(l.line) AS last FROM training.run_lines l
     JOIN training.runs r ON r.number = l.run WHERE l.stream = 0 AND l.step = l.line GROUP BY r.name`,
  )
  const found = new Map(rows.map((row) => [row.name, row]))
  const lost = writers.map(({ name, lines }) => {
    const row = found.get(name)
    return lines - (row?.last === lines - 1 ? row.lines : 0)
  })
  return lost.reduce((sum, count) => sum + Math.abs(count), 0)
}
