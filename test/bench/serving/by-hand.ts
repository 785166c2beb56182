import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readLocalConfig } from '../../../local/config.ts'
import { installTrainerEnvironment } from '../../../local/install/python-environment.ts'
import { processorEnv } from '../../../local/stack/programs/node-agent-config.ts'
import { Board } from '../../../local/terminal/board.ts'
import { keepLog } from '../../support/child-program.ts'
import { createEngine } from './engines.ts'

const startMs = 600_000
const lookMs = 50
const adapterName = 'a'
const folder = path.join(import.meta.dirname, '..', '..', '..', 'trainer')

/** vLLM's own server. */
interface ByHand {
  /** Waits until it has answered with the adapter. @throws {Error} with its last lines if it has ended before */
  waitForAnswer: () => Promise<void>
  stop: () => Promise<void>
}

/** Starts vLLM's own server as a person would, with the model and the sizes of the chart's base model. */
export async function startByHand(port: number, adapterFolder: string): Promise<ByHand> {
  const context = { config: readLocalConfig(), board: new Board(), signal: new AbortController().signal }
  const { python } = await installTrainerEnvironment(context)
  // As engines on one machine have it.
  const env = { VLLM_CPU_KVCACHE_SPACE: '1', VLLM_NO_USAGE_STATS: '1', HF_HUB_OFFLINE: '1' }
  const child = spawn(python, listArguments(port, adapterFolder), {
    env: { ...process.env, ...processorEnv, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: folder,
  })
  const readLog = keepLog(child)
  const exited = once(child, 'exit')
  const engine = createEngine(`http://127.0.0.1:${port}`, 'none')
  const answers = () =>
    engine.ask(adapterName).then(
      () => true,
      () => false,
    )
  return {
    async waitForAnswer() {
      for (const deadlineMs = performance.now() + startMs; performance.now() < deadlineMs; await delay(lookMs)) {
        if (child.exitCode !== null || child.signalCode !== null) break
        if (await answers()) return
      }
      throw new Error(`vLLM, started by hand, did not answer:\n${readLog()}`)
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Its command `vllm` does not run in this environment, which has no package named vllm: for CPUs it is `vllm-cpu`. */
function listArguments(port: number, adapterFolder: string): string[] {
  const server = ['-m', 'vllm.entrypoints.openai.api_server', '--model', 'models/tiny-chat', '--dtype', 'float32']
  const adapters = ['--enable-lora', '--max-loras', '4', '--max-cpu-loras', '32', '--max-lora-rank', '16']
  const addressArgs = ['--host', '127.0.0.1', '--port', String(port)]
  return [...server, ...adapters, '--lora-modules', `${adapterName}=${adapterFolder}`, ...addressArgs]
}
