import path from 'node:path'
import type { LocalConfig } from '../../../local/config.ts'
import type { Installation } from '../../../local/install/install.ts'
import { userKubeconfig } from '../../../local/stack/programs/credentials.ts'
import type { ProgramSpec } from '../../../local/stack/programs/program-spec.ts'
import { buildPrograms } from '../../../local/stack/programs/programs.ts'
import type { Layout } from '../../../local/stack/layout.ts'
import type { StackSettings } from '../../../local/stack/settings.ts'
import { nodeAddress, nodeName, ports, serviceRange } from './addresses.ts'
import type { NodePrograms } from './parts.ts'
import type { Runtime } from './runtime.ts'

export interface ProgramsRequest {
  layout: Layout
  settings: StackSettings
  config: LocalConfig
  installation: Installation
  runtime: Runtime
  node: NodePrograms
}

/** The control plane of one machine, and a real node in place of its node agent. */
export async function buildNodePrograms(request: ProgramsRequest): Promise<ProgramSpec[]> {
  const all = await buildPrograms({ ...request, durable: false })
  const control = all.filter(({ name }) => name !== 'postgres' && name !== 'node-agent')
  return [...control.map(adaptProgram), ...describeNode(request)]
}

/** Pods reach kube-apiserver at the node's address, and it is the endpoint of the Service `kubernetes`. */
function adaptProgram(program: ProgramSpec): ProgramSpec {
  const changes: Record<string, Record<string, string | undefined>> = {
    'kube-apiserver': {
      'bind-address': '0.0.0.0',
      'advertise-address': nodeAddress,
      'service-cluster-ip-range': serviceRange,
      'service-node-port-range': undefined,
      'endpoint-reconciler-type': undefined,
    },
    // Otherwise a claim waits for its volume for up to 15 seconds.
    'kube-controller-manager': { 'pvclaimbinder-sync-period': '1s' },
  }
  return { ...program, args: changeFlags(program.args, changes[program.name] ?? {}) }
}

/** Replaces flags of the form `--name=value`. Undefined removes one. */
export function changeFlags(args: readonly string[], changes: Record<string, string | undefined>): string[] {
  const kept = args.filter((arg) => !Object.keys(changes).some((name) => arg.startsWith(`--${name}=`)))
  const added = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]))
  return [...kept, ...added]
}

function describeNode({ layout, installation, runtime, node }: ProgramsRequest): ProgramSpec[] {
  const config = (name: string) => path.join(layout.root, 'config', name)
  const common = { cwd: layout.root, env: runtime.env, stopSignal: 'SIGTERM', stopTimeoutMs: 10_000 } as const
  const onPort = (port: number) => ({ kind: 'port', port }) as const
  const kubelet = [
    `--config=${config('kubelet.json')}`,
    `--kubeconfig=${userKubeconfig(layout, 'node')}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${nodeAddress}`,
  ]
  return [
    {
      ...common,
      name: 'containerd',
      command: runtime.containerd,
      args: ['--config', config('containerd.toml')],
      after: [],
      ready: { kind: 'socket', path: '/run/containerd/containerd.sock' },
    },
    {
      ...common,
      name: 'kubelet',
      command: node.kubelet,
      args: kubelet,
      after: ['kube-apiserver', 'containerd'],
      ready: onPort(ports.kubeletHealth),
    },
    {
      ...common,
      name: 'kube-proxy',
      command: node.proxy,
      args: [`--config=${config('proxy.json')}`, `--hostname-override=${nodeName}`],
      after: ['kube-apiserver', 'kubelet'],
      ready: onPort(ports.proxyHealth),
    },
    {
      ...common,
      name: 'service-names',
      command: path.join(import.meta.dirname, 'service-names.sh'),
      args: [installation.controlPlane.kubectl, config('')],
      env: { ...runtime.env, KUBECONFIG: layout.kubeconfig },
      after: ['kube-apiserver'],
      ready: onPort(ports.dns),
    },
  ]
}
