import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { webhookKey } from './api-server.ts'
import { findFreePort } from './free-port.ts'
import { nodeEnv, operatorFlags } from './node-env.ts'
import type { ApiStack } from './services.ts'

/** A running operator for one test. */
export interface RunningOperator {
  url: string
  readonly pid: number
  /** Resolves with the exit code when it first ends. */
  exited: Promise<number | null>
  /** Sends SIGTERM. Returns the exit code. */
  stop: () => Promise<number | null>
  /** Ends the process if it runs. */
  remove: () => Promise<void>
}

/** Images for operators whose pods nobody starts, as their setting. */
export const noImages = JSON.stringify({
  engine: { cpu: 'none', cuda: 'none' },
  trainer: { cpu: 'none', cuda: 'none' },
})

interface Wanted {
  databaseUrl: string
  namespace: string
  /** Additional variables. */
  env?: Record<string, string>
}

// The pause before it starts again.
const pauseMs = 1_000

/**
 * Starts operator/main.ts as its pod would. Returns at once: the test asks whether it is ready. It starts again when it ends by
 * itself: one that gets no processor for ten seconds loses its Lease.
 */
export async function startOperator(
  cluster: Pick<ApiStack, 'kubeconfig'>,
  { databaseUrl, namespace, env }: Wanted,
): Promise<RunningOperator> {
  const port = await findFreePort()
  const folder = await mkdtemp(path.join(tmpdir(), 'operator-'))
  const artifacts = path.join(folder, 'artifacts')
  await mkdir(artifacts)
  const launch = () =>
    spawn(process.execPath, [...operatorFlags, 'operator/main.ts'], {
      env: {
        ...nodeEnv,
        TRAINYARD_HOST: '127.0.0.1',
        TRAINYARD_PORT: String(port),
        DATABASE_URL: databaseUrl,
        TRAINYARD_NAMESPACE: namespace,
        TRAINYARD_POD_NAME: `operator-${port}`,
        TRAINYARD_ENGINE_KEY: 'none',
        TRAINYARD_WEBHOOK_KEY: webhookKey,
        TRAINYARD_IMAGES: noImages,
        TRAINYARD_ARTIFACTS: artifacts,
        TRAINYARD_ARTIFACTS_VOLUME: JSON.stringify({ emptyDir: {} }),
        KUBECONFIG: cluster.kubeconfig,
        LOG_LEVEL: 'fatal',
        ...env,
      },
      stdio: 'inherit',
    })
  let child = launch()
  let isEnding = false
  const exited = waitForExit(child)
  const keepRunning = async () => {
    let code = await exited
    while (!isEnding) {
      await delay(pauseMs)
      if (isEnding) break
      child = launch()
      code = await waitForExit(child)
    }
    return code
  }
  const ended = keepRunning()
  const end = (signal: NodeJS.Signals) => {
    isEnding = true
    child.kill(signal)
    return ended
  }
  return {
    url: `http://127.0.0.1:${port}`,
    get pid() {
      return child.pid!
    },
    exited,
    stop: () => end('SIGTERM'),
    remove: async () => {
      await end('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function waitForExit(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}
