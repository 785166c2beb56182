import { runChild } from '../../../local/install/run-child.ts'
import { chart } from '../helm.ts'
import type { KubeNode } from './node.ts'

export const namespace = 'trainyard'
export const parts = ['apiserver', 'operator', 'status-server'] as const

/** The release of the chart on a node: what people type, by the real Helm. */
export function createRelease({ kubeconfig, helmPath, kubectl }: KubeNode) {
  const helm = async (...args: string[]): Promise<string> => {
    const env = { ...process.env, KUBECONFIG: kubeconfig }
    const { code, stdout, tail } = await runChild(helmPath, [...args, '--namespace', namespace], { env })
    if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${tail}\n${stdout.slice(-2000)}`)
    return stdout
  }
  const set = (values: Record<string, string | number>) =>
    Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  return {
    /** Installs or upgrades it, and waits until Helm sees all of it ready. */
    upgrade: (values: Record<string, string | number>) =>
      helm('upgrade', '--install', 'trainyard', chart, '--wait', '--timeout=15m', ...set({ trial: 'true', ...values })),
    rollback: (revision: number) => helm('rollback', 'trainyard', String(revision), '--wait', '--timeout=15m'),
    uninstall: () => helm('uninstall', 'trainyard', '--wait', '--timeout=10m'),
    test: () => helm('test', 'trainyard', '--timeout=10m'),
    /** The address of the apiserver's Service. */
    findUrl: async () => {
      const address = '-ojsonpath={.spec.clusterIP}'
      return `http://${await kubectl('get', 'service/trainyard-apiserver', '-n', namespace, address)}:8080`
    },
    /** Runs a command of the administrator in the cluster. Returns what it prints for programs. */
    administrate: async (...args: string[]) => {
      const command = ['node', 'apiserver/accounts/admin/main.ts', ...args]
      return (await kubectl('exec', '-n', namespace, 'deploy/trainyard-apiserver', '--', ...command)).trim()
    },
    waitForBaseModel: async () => {
      await kubectl('wait', '-n', namespace, '--for=create', 'basemodel/tiny-chat', '--timeout=5m')
      await kubectl('wait', '-n', namespace, '--for=condition=Ready', 'basemodel/tiny-chat', '--timeout=15m')
    },
  }
}

export type Release = ReturnType<typeof createRelease>
