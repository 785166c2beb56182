import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { readLocalConfig } from '../../local/config.ts'
import { install } from '../../local/install/install.ts'
import { chartValues } from '../../local/stack/cluster/chart.ts'
import { layoutOf } from '../../local/stack/layout.ts'
import { databaseUrl } from '../../local/stack/programs/postgres.ts'
import { startMachinery } from '../../local/stack/start.ts'
import { stopMachinery } from '../../local/stack/stop.ts'
import { Board } from '../../local/terminal/board.ts'
import { applyWithKubectl } from './run-kubectl.ts'

const run = promisify(execFile)

/** A cluster for one test file, without Trainyard. */
export interface OwnCluster {
  kubeconfig: string
  databaseUrl: string
  helmPath: string
  kubectlPath: string
  /** Where an apiserver answers that was installed with these values. */
  url: string
  /** The chart's values for this cluster, with a folder for artifacts and Postgres. */
  values: object
  kubectl: (...args: string[]) => Promise<string>
  /** Runs `kubectl apply -f -` on one object. */
  apply: (object: object) => Promise<string>
  remove: () => Promise<void>
}

/** Starts Kubernetes, its node and Postgres in a new folder, perhaps with another kube-apiserver. */
export async function startOwnCluster(kubeApiserver?: string): Promise<OwnCluster> {
  const stateFolder = await mkdtemp(path.join(tmpdir(), 'trainyard-cluster-'))
  await chmod(stateFolder, 0o755) // Postgres runs as another user when we are root.
  const layout = layoutOf(stateFolder)
  const { kubeconfig } = layout
  const remove = async () => {
    await stopMachinery(stateFolder)
    await rm(stateFolder, { recursive: true, force: true })
  }
  try {
    const { signal } = new AbortController()
    const config = { ...readLocalConfig(), stateFolder, port: 0, kubeApiserver }
    const installation = await install({ config, board: new Board(), signal })
    const phase = { update: () => {} }
    const settings = await startMachinery({ config, installation, stateFolder, port: 0, durable: false, phase, signal })
    const { kubectl, helm } = installation.controlPlane
    const options = { env: { ...process.env, KUBECONFIG: kubeconfig }, maxBuffer: 16 * 1024 * 1024 }
    return {
      kubeconfig,
      databaseUrl: databaseUrl(settings),
      helmPath: helm,
      kubectlPath: kubectl,
      url: `http://127.0.0.1:${settings.ports.public}`,
      values: chartValues(layout, { ...config, settings }),
      kubectl: async (...args) => (await run(kubectl, args, options)).stdout,
      apply: (object) => applyWithKubectl({ kubectlPath: kubectl, kubeconfig }, object),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}
