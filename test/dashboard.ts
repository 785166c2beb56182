import { setTimeout as delay } from 'node:timers/promises'
import { describeError } from '../local/command.ts'
import { listDashboardQueries } from './support/dashboard.ts'
import { bringUpStack, type StackHandle } from './support/global-setup.ts'
import { podSelectors } from './support/kill.ts'
import { startPrometheus, type Prometheus, type ScrapeTarget } from './support/prometheus.ts'
import { createRest, sampleGroup, type Rest } from './support/rest.ts'
import { runKubectl } from './support/run-kubectl.ts'

// Queries look back this far. Prometheus scrapes every second here.
const interval = '30s'
// The operator samples pods every ten seconds. Two samples are a rate.
const afterJobMs = 25_000

interface PodList {
  items: {
    metadata: { name: string }
    spec: { containers: { ports?: { name?: string; containerPort: number }[] }[] }
    status: { podIP?: string }
  }[]
}

/** Every port of a pod that is named `metrics`, as docs/metrics.md describes it. */
async function listTargets(stack: StackHandle): Promise<ScrapeTarget[]> {
  const pods = JSON.parse(await runKubectl(stack, ['get', 'pods', '-n', 'trainyard', '-o', 'json'])) as PodList
  return pods.items.flatMap(({ metadata, spec, status }) =>
    spec.containers
      .flatMap(({ ports = [] }) => ports)
      .filter(({ name }) => name === 'metrics')
      .map(({ containerPort }) => ({ address: `${status.podIP}:${containerPort}`, labels: { pod: metadata.name } })),
  )
}

/** Replaces the engines, so that the operator sees one become Ready. */
async function replaceEngines(stack: StackHandle): Promise<void> {
  await runKubectl(stack, ['delete', 'pods', '-l', podSelectors.engine, '-n', 'trainyard'])
  await runKubectl(stack, ['rollout', 'status', 'deployment/tiny-chat-engine', '-n', 'trainyard', '--timeout=300s'])
}

/** Trains a job and chats until it has ended, and for some time after it. */
async function work(rest: Rest): Promise<void> {
  const model = await rest.createModel()
  const alternating = (_: string, index: number) => index % 2
  const group = await sampleGroup(rest, model.address, 'Tell me about the sea.', alternating)
  const stop = new AbortController()
  const chatting = chat(rest, model.address, stop.signal)
  const events = await rest.waitForEnd(await rest.startJob(model.id, [group]))
  if (events.at(-1)?.type !== 'training_ended') throw new Error('the training job failed')
  await delay(afterJobMs)
  stop.abort()
  await chatting
}

async function chat(rest: Rest, model: string, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await rest.sample(model, 'Tell me about the sea.')
    await delay(500)
  }
}

/** The queries that find nothing, or no number. */
async function findEmpty(prometheus: Prometheus): Promise<string[]> {
  const empty: string[] = []
  for (const { panel, expression } of listDashboardQueries()) {
    const values = await prometheus.query(expression.replaceAll('$__rate_interval', interval))
    const found = values.filter((value) => Number.isFinite(value))
    console.log(`${found.length > 0 ? '✓' : '✗'} ${panel}: ${found.length} series`)
    if (found.length === 0) empty.push(`${panel}: ${expression} finds no number (${values.length} series)`)
  }
  return empty
}

async function testDashboard(): Promise<void> {
  const { handle, tearDown } = await bringUpStack(true)
  try {
    await replaceEngines(handle)
    const prometheus = await startPrometheus(await listTargets(handle))
    try {
      await work(createRest(handle))
      const empty = await findEmpty(prometheus)
      if (empty.length > 0) throw new Error(`queries of the dashboard find nothing:\n${empty.join('\n')}`)
    } finally {
      await prometheus.stop()
    }
  } finally {
    await tearDown()
  }
}

try {
  await testDashboard()
} catch (error) {
  console.error(describeError(error))
  process.exitCode = 1
}
