import { mkdirSync } from 'node:fs'
import { availableParallelism, homedir } from 'node:os'
import path from 'node:path'
import type { LocalConfig } from '../../config.ts'
import type { Installation } from '../../install/install.ts'
import { stackMark } from '../../preflight/marked-processes.mjs'
import { certificatesOf } from './certificates.ts'
import { userKubeconfig } from './credentials.ts'
import { replaceJson } from '../json-file.ts'
import type { Layout } from '../layout.ts'
import type { StackSettings } from '../settings.ts'
import { describeSlot } from '../network/slots.ts'

/** An image on this node: a local program in this folder. */
export interface LocalImage {
  cwd: string
  /** Folders at the start of PATH. */
  path: string[]
  env: Record<string, string>
}

/**
 * An engine and a trainer share this machine. By default, vLLM computes in one more process, which waits by polling and
 * which all engines bind to the same processors. Threads that wait for each other poll too.
 */
export const processorEnv = {
  VLLM_ENABLE_V1_MULTIPROCESSING: '0',
  OMP_NUM_THREADS: String(Math.max(1, Math.floor(availableParallelism() / 2))),
  OMP_WAIT_POLICY: 'passive',
}

/** Writes the node agent's configuration file. */
export function writeNodeAgentConfig(
  layout: Layout,
  settings: StackSettings,
  { config, installation }: { config: LocalConfig; installation: Installation },
): void {
  const certificates = certificatesOf(layout)
  mkdirSync(layout.node, { recursive: true })
  replaceJson(layout.nodeAgent, {
    kubeconfig: userKubeconfig(layout, 'node'),
    stateDir: layout.node,
    nodeName: 'local',
    podNetwork: describeSlot(settings.slot).podNetwork,
    kubeletPort: settings.ports.kubelet,
    kubeletCert: certificates.kubelet,
    kubeletKey: certificates.kubeletKey,
    kubeletClientCA: certificates.authority,
    kubernetesHost: '127.0.0.1',
    kubernetesPort: settings.ports.kubernetes,
    images: localImages(layout, config, installation),
  })
}

/** The chart's images on one machine. The shell is for tests. */
export function localImages(
  layout: Layout,
  { repository, cacheFolder }: LocalConfig,
  { python }: Installation,
): Record<string, LocalImage> {
  // The mark finds the processes of a crashed stack.
  const mark = { [stackMark]: layout.root }
  const node = path.join(repository, 'node_modules', '.bin')
  // Compiled code is kept for the next start.
  const compiled = path.join(cacheFolder, 'compiled')
  // vLLM and torch compile at the first adapter request.
  const runtime = {
    cwd: path.join(repository, 'trainer'),
    path: [python.binFolder],
    env: {
      ...mark,
      PYTHONUNBUFFERED: '1',
      // Pods have homes of their own. Downloaded models are those of the user.
      HF_HOME: path.join(homedir(), '.cache', 'huggingface'),
      VLLM_CACHE_ROOT: path.join(compiled, 'vllm'),
      TORCHINDUCTOR_CACHE_DIR: path.join(compiled, 'torchinductor'),
      TRITON_CACHE_DIR: path.join(compiled, 'triton'),
      ...processorEnv,
    },
  }
  const runtimes = ['engine-cpu', 'engine-cuda', 'trainer-cpu', 'trainer-cuda']
  return {
    ...Object.fromEntries(runtimes.map((name) => [`ghcr.io/trainyard/${name}:0.1.0`, runtime])),
    'ghcr.io/trainyard/control:0.1.0': {
      cwd: repository,
      path: [node],
      env: { ...mark, NODE_COMPILE_CACHE: path.join(compiled, 'node') },
    },
    'trainyard.dev/local-shell:1': { cwd: layout.root, path: [node], env: mark },
  }
}
