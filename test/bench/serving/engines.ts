import { setTimeout as delay } from 'node:timers/promises'
import type { StackHandle } from '../../support/global-setup.ts'
import { podSelectors } from '../../support/kill.ts'
import { post } from '../../support/post.ts'
import { runKubectl } from '../../support/run-kubectl.ts'

const namespace = ['-n', 'trainyard']
const startSeconds = 600

/** An engine pod, as the benchmark asks it without the gateway. */
export interface BenchEngine {
  /** Samples one token of a model. @throws {Error} if the engine answers with an error */
  ask: (model: string) => Promise<void>
}

/** Sets the number of the base model's engines. Does not wait for them. */
export async function scaleEngines(stack: StackHandle, replicas: number): Promise<void> {
  const patch = JSON.stringify({ spec: { engine: { replicas } } })
  await runKubectl(stack, ['patch', 'basemodel', 'tiny-chat', ...namespace, '--type=merge', '-p', patch])
}

/** Waits until exactly so many engine pods exist and are Ready, and returns them. */
export async function waitForEngines(stack: StackHandle, count: number): Promise<BenchEngine[]> {
  for (const deadlineMs = performance.now() + startSeconds * 1000; performance.now() < deadlineMs; await delay(100)) {
    const pods = await listPods(stack)
    if (pods.length !== count || !pods.every(({ isReady }) => isReady)) continue
    const key = await readEngineKey(stack)
    return pods.map(({ ip }) => createEngine(`http://${ip}:8000`, key))
  }
  throw new Error(`${count} engines were not Ready within ${startSeconds} s`)
}

interface PodList {
  items: { status: { podIP?: string; conditions?: { type: string; status: string }[] } }[]
}

async function listPods(stack: StackHandle): Promise<{ ip: string; isReady: boolean }[]> {
  const output = await runKubectl(stack, ['get', 'pods', ...namespace, '-l', podSelectors.engine, '-o', 'json'])
  return (JSON.parse(output) as PodList).items.map(({ status }) => ({
    ip: status.podIP ?? '',
    isReady: status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false,
  }))
}

async function readEngineKey(stack: StackHandle): Promise<string> {
  const path = '-o=jsonpath={.data.engine-key}'
  const encoded = await runKubectl(stack, ['get', 'secret', 'trainyard-secrets', ...namespace, path])
  return Buffer.from(encoded, 'base64').toString()
}

export function createEngine(url: string, key: string): BenchEngine {
  return {
    ask: async (model) => {
      const response = await post(`${url}/v1/completions`, key, { model, prompt: 'a', max_tokens: 1 })
      const text = await response.text()
      if (!response.ok) throw new Error(`an engine answered ${response.status}: ${text.slice(0, 300)}`)
    },
  }
}
