import os from 'node:os'
import path from 'node:path'
import { UserError } from './user-error.ts'

export type Accelerator = 'cpu' | 'cuda'

/** Where the local commands read and write, and what the user asked for; read once from the environment. */
export interface LocalConfig {
  /** The root of this repository. */
  repository: string
  /** Everything installed outside of the repository. `preflight/preflight.mjs` names the same folder. */
  cacheFolder: string
  /** Everything that belongs to one stack. */
  stateFolder: string
  /** The public port, when it was asked for. */
  port: number | undefined
  /** A folder with control-plane binaries, as envtest uses it. */
  kubebuilderAssets: string | undefined
  searchPath: string[]
  /** Whom the stack may ask for users; see `outbound` in the chart's values. */
  outbound: { dataHosts: string[]; webhookHosts: string[]; privateNetworks: string[] }
  /** Whether base models get their engines and trainers; some tests do without. */
  withPods: boolean
  /** The device of engines and trainers. The packages for a GPU take much longer to install, so it is asked for. */
  accelerator: Accelerator
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
    accelerator: readAccelerator(env['TRAINYARD_ACCELERATOR'] || 'cpu'),
  }
}

function readAccelerator(name: string): Accelerator {
  if (name === 'cpu' || name === 'cuda') return name
  throw new UserError('TRAINYARD_ACCELERATOR must be cpu or cuda (an NVIDIA GPU).')
}

function splitList(text = ''): string[] {
  return text.split(',').filter(Boolean)
}

/** This process's environment with some variables set: what a child process gets. */
export function childEnvironment(extra: Record<string, string>): NodeJS.ProcessEnv {
  return { ...process.env, ...extra }
}
