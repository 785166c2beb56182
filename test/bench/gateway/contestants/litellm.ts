import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { childEnvironment } from '../../../../local/config.ts'
import { ensureBenchPython } from '../../../support/client-python.ts'
import { findFreePort } from '../../../support/free-port.ts'
import { withContestant } from '../../tracing/contestant.ts'
import { listTree } from '../processor.ts'
import { workloadNames } from '../workloads.ts'
import type { Contestant, EngineAddress } from './contestant.ts'

const apiKey = 'sk-bench'
const model = 'bench-model'

// It must not connect to other hosts.
const settings = {
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  LITELLM_TELEMETRY: 'False',
  LITELLM_LOG: 'ERROR',
  LITELLM_MODE: 'PRODUCTION',
  DISABLE_ADMIN_UI: 'True',
  NO_DOCS: 'True',
}

/** LiteLLM's proxy in its cheapest form: one worker, a master key, no database and no budget. */
export async function withLitellm<T>(engine: EngineAddress, work: (found: Contestant) => Promise<T>): Promise<T> {
  const python = await ensureBenchPython(path.join('gateway', 'litellm'))
  const folder = await mkdtemp(path.join(tmpdir(), 'trainyard-litellm-'))
  const port = await findFreePort()
  const file = path.join(folder, 'config.yaml')
  await writeFile(file, JSON.stringify(buildConfig(engine)))
  const how = {
    command: python,
    args: [path.join(path.dirname(python), 'litellm'), ...buildArgs(file, port)],
    env: childEnvironment({ ...settings, HOME: folder }),
    url: `http://127.0.0.1:${port}`,
    healthPath: '/health/liveliness',
  }
  const describe = (pid: number): Contestant => ({
    name: 'litellm',
    host: '127.0.0.1',
    port,
    apiKey,
    models: [model],
    listProcesses: () => ({ own: listTree(pid), postgres: [] }),
    workloads: workloadNames,
    share: 0.05,
  })
  try {
    return await withContestant(how, ({ pid }) => work(describe(pid)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function buildArgs(file: string, port: number): string[] {
  return ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1', '--telemetry', 'False']
}

/** JSON is valid YAML. */
function buildConfig({ host, port }: EngineAddress): object {
  const params = { model: `hosted_vllm/${model}`, api_base: `http://${host}:${port}/v1`, api_key: 'none' }
  return {
    model_list: [{ model_name: model, litellm_params: params }],
    litellm_settings: { telemetry: false, num_retries: 0, request_timeout: 600 },
    general_settings: { master_key: apiKey },
  }
}
