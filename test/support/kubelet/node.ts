import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, openSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { runChild } from '../../../local/install/run-child.ts'
import { layoutOf, type Layout } from '../../../local/stack/layout.ts'
import { areAllReady, readSupervisorRecord } from '../../../local/stack/processes/supervisor-record.ts'
import { eventually } from '../eventually.ts'
import { nodeAddress, nodeName } from './addresses.ts'
import type { NodeParts } from './parts.ts'
import { listVolumeFolders, prepareNode } from './prepare.ts'

const machine = path.join(import.meta.dirname, 'machine.sh')
const readyMs = 300_000
const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--cgroup']

/** A Kubernetes cluster of one real node. */
export interface KubeNode {
  kubeconfig: string
  helmPath: string
  /** Where kubelet and the others write. */
  logs: string
  /** Runs kubectl and returns its output. */
  kubectl: (...args: string[]) => Promise<string>
  /** Runs `kubectl apply -f -` on objects. */
  apply: (...objects: object[]) => Promise<void>
  /** The folder of its files. */
  root: string
  /** Runs a command among the processes of the node. @throws {Error} with its last lines */
  run: (...command: string[]) => Promise<string>
  /** Ends one of the node's own programs. The supervisor starts it again. */
  killProgram: (name: string) => Promise<void>
  /** Ends everything in it, and removes its files. */
  remove: () => Promise<void>
}

/** Starts a node in the network namespace of this process, and waits until all programs are ready and all images are there. */
export async function startNode(parts: NodeParts): Promise<KubeNode> {
  const root = await mkdtemp(path.join(tmpdir(), 'trainyard-node-'))
  await chmod(root, 0o755)
  const layout = layoutOf(root)
  await prepareNode(layout, parts, makeSettings())
  const child = startMachine(layout)
  const node = describeNode(layout, parts, child)
  try {
    await waitForPrograms(layout, child)
    for (const archive of parts.archives) await node.run(parts.runtime.ctr, '-n', 'k8s.io', 'images', 'import', archive)
    await node.kubectl('wait', '--for=create', 'node/local', '--timeout=2m')
    await node.kubectl('wait', '--for=condition=Ready', 'node/local', '--timeout=5m')
    await node.apply(kubeletClientRights, ...listVolumes(root))
    return node
  } catch (error) {
    await node.remove()
    throw error
  }
}

/** kube-apiserver may read logs from kubelet and run commands by it. */
const kubeletClientRights = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'kubelet-client' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'kube-apiserver-kubelet-client' }],
}

/** A volume on the node. Claims without a storage class get it, and kubelet gives it the group of the pod. */
function localVolume(name: string, folder: string): object {
  const here = { key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '100Gi' },
      accessModes: ['ReadWriteOnce'],
      local: { path: folder },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
    },
  }
}

function listVolumes(root: string): object[] {
  return listVolumeFolders(root).map((folder, index) => localVolume(`volume-${index}`, folder))
}

function makeSettings() {
  const secret = () => randomBytes(24).toString('base64url')
  return {
    slot: 0,
    ports: { public: 30_080, kubernetes: 6443, kubelet: 10_250, postgres: 5432 },
    secrets: {
      admin: secret(),
      controllerManager: secret(),
      scheduler: secret(),
      node: secret(),
      postgres: secret(),
      engineKey: secret(),
      webhookKey: secret(),
    },
  }
}

function startMachine({ root, logs }: Layout): ChildProcess {
  mkdirSync(logs, { recursive: true })
  const output = openSync(path.join(logs, 'machine.log'), 'a')
  const supervisor = path.join(readLocalConfig().repository, 'local', 'supervisor.ts')
  const command = ['/bin/bash', machine, root, nodeAddress, process.execPath, supervisor, root]
  return spawn('unshare', [...namespaces, '--fork', '--mount-proc', '--kill-child', ...command], {
    stdio: ['ignore', output, output],
  })
}

async function waitForPrograms(layout: Layout, child: ChildProcess): Promise<void> {
  await eventually(() => {
    if (child.exitCode !== null) return
    const record = readSupervisorRecord(layout)
    const waiting = Object.entries(record?.programs ?? {}).filter(([, { ready }]) => !ready)
    if (!record || !areAllReady(record)) throw new Error(`waiting for ${waiting.map(([name]) => name).join(', ')}`)
  }, readyMs)
  if (child.exitCode !== null) {
    throw new Error(`the machine ended: ${readFileSync(path.join(layout.logs, 'machine.log'), 'utf8')}`)
  }
}

function describeNode(layout: Layout, { installation, runtime }: NodeParts, child: ChildProcess): KubeNode {
  const { kubectl, helm } = installation.controlPlane
  const { kubeconfig, logs } = layout
  const run = (...command: string[]) => {
    const target = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
    return call('nsenter', ['--target', target, ...namespaces, ...command], runtime.env)
  }
  const killProgram = async (name: string) => {
    const { process: identity } = readSupervisorRecord(layout)?.programs[name] ?? {}
    if (!identity) throw new Error(`${name} does not run`)
    await run('kill', '-KILL', String(identity.pid))
  }
  const remove = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await eventually(() => call('unshare', ['--mount', '--cgroup', '/bin/bash', machine, '--clean'], {}))
    await rm(layout.root, { recursive: true, force: true })
  }
  const withCluster = { KUBECONFIG: kubeconfig }
  return {
    kubeconfig,
    helmPath: helm,
    logs,
    kubectl: (...args) => call(kubectl, args, withCluster),
    apply: async (...objects) => {
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
      const args = ['apply', '--server-side', '-f', '-']
      const { code, tail } = await runChild(kubectl, args, { env: { ...process.env, ...withCluster }, input })
      if (code !== 0) throw new Error(tail)
    },
    root: layout.root,
    run,
    killProgram,
    remove,
  }
}

async function call(command: string, args: string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, tail } = await runChild(command, args, { env: { ...process.env, ...env } })
  if (code !== 0) throw new Error(`${path.basename(command)} ${args.join(' ')}: ${tail}`)
  return stdout
}

/** A namespace in which no pod may have more rights than `restricted` allows. */
export function restrictedNamespace(name: string): object {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}
