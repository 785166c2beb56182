import os from 'node:os'
import path from 'node:path'
import { UserError } from './user-error.ts'

export type Accelerator = 'cpu' | 'cuda'

/** The folders of the local commands, and the user's settings. Read once from the environment. */
export interface LocalConfig {
  /** The root of this repository. */
  repository: string
  /** Everything that is installed outside of the repository. `preflight/preflight.mjs` names the same folder. */
  cacheFolder: string
  /** Everything that belongs to one stack. */
  stateFolder: string
  /** The public port, if the user set one. */
  port: number | undefined
  /** A folder with control-plane binaries, in envtest's layout. */
  kubebuilderAssets: string | undefined
  searchPath: string[]
  /** The user addresses that the stack may call; see `outbound` in the chart's values. */
  outbound: { dataHosts: string[]; webhookHosts: string[]; privateNetworks: string[] }
  /** Whether base models get engines and trainers. Some tests do not need them. */
  withPods: boolean
  /** How many operators run: one works, and the others wait for its Lease. */
  operators: number
  /** The device of engines and trainers. The GPU packages take much longer to install, so they are not the default. */
  accelerator: Accelerator
  /** Tests run another version of kube-apiserver than the installed one. */
  kubeApiserver?: string | undefined
  /** Tests read the requests that kube-apiserver gets: a folder with an audit policy, for the logs. */
  auditLogs: string | undefined
}

export function readLocalConfig(env: NodeJS.ProcessEnv = process.env): LocalConfig {
  const caches = env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache')
  return {
    repository: path.dirname(import.meta.dirname),
    cacheFolder: path.resolve(env['TRAINYARD_CACHE'] || path.join(caches, 'trainyard')),
    stateFolder: path.resolve(env['TRAINYARD_STATE'] || '.trainyard'),
    port: env['TRAINYARD_PORT'] ? Number(env['TRAINYARD_PORT']) : undefined,
    kubebuilderAssets: env['KUBEBUILDER_ASSETS'] || undefined,
    searchPath: (env['PATH'] ?? '').split(path.delimiter).filter(Boolean),
    outbound: {
      dataHosts: splitList(env['TRAINYARD_DATA_HOSTS']),
      webhookHosts: splitList(env['TRAINYARD_WEBHOOK_HOSTS'] ?? '*:*'),
      privateNetworks: splitList(env['TRAINYARD_PRIVATE_NETWORKS']),
    },
    withPods: true,
    operators: 1,
    accelerator: readAccelerator(env['TRAINYARD_ACCELERATOR'] || 'cpu'),
    auditLogs: env['TRAINYARD_TEST_AUDIT_LOGS'] || undefined,
  }
}

function readAccelerator(name: string): Accelerator {
  if (name === 'cpu' || name === 'cuda') return name
  throw new UserError('TRAINYARD_ACCELERATOR must be cpu or cuda (an NVIDIA GPU).')
}

function splitList(text = ''): string[] {
  return text.split(',').filter(Boolean)
}

/** This process's environment with some variables replaced, for a child process. */
export function childEnvironment(extra: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...extra }
}
