import path from 'node:path'
import type { LocalConfig } from '../../config.ts'
import type { Installation } from '../../install/install.ts'
import { certificatesOf } from './certificates.ts'
import { credentialsOf, userKubeconfig } from './credentials.ts'
import type { Layout } from '../layout.ts'
import { dataFolder, postgresCommand } from './postgres.ts'
import type { ProgramSpec } from './program-spec.ts'
import type { StackSettings } from '../settings.ts'
import { describeSlot } from '../network/slots.ts'

export interface ProgramsRequest {
  layout: Layout
  settings: StackSettings
  config: LocalConfig
  installation: Installation
  /** false: data need not survive a power cut (tests). */
  durable: boolean
}

type ProgramDraft = Pick<ProgramSpec, 'name' | 'command' | 'args'> & Partial<ProgramSpec>

/** The programs of the stack in the order of their start. They stop in reverse order. */
export async function buildPrograms(request: ProgramsRequest): Promise<ProgramSpec[]> {
  const programs = [
    await postgres(request),
    etcd(request),
    kubeApiserver(request),
    kubeControllerManager(request),
    kubeScheduler(request),
    nodeAgent(request),
  ]
  return programs.map((program) => ({
    cwd: request.layout.root,
    env: {},
    after: [],
    ready: { kind: 'running' },
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    ...program,
  }))
}

async function postgres({ layout, settings, durable }: ProgramsRequest): Promise<ProgramDraft> {
  const how = await postgresCommand('postgres', layout.postgres)
  const data = dataFolder(layout.postgres)
  const options = {
    listen_addresses: '127.0.0.1',
    port: settings.ports.postgres,
    // The path of a socket must be short, and no client uses one.
    unix_socket_directories: '',
    // Several apiservers of tests run at the same time, with forty connections each.
    max_connections: 200,
    ...(durable ? {} : { fsync: 'off' }),
  }
  const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return {
    name: 'postgres',
    command: how.command,
    args: [...how.prefix, '-D', data, ...flags],
    cwd: '/',
    ...(how.user ? { user: how.user } : {}),
    ready: { kind: 'postmaster', pidFile: path.join(data, 'postmaster.pid') },
    // A fast shutdown: open transactions are rolled back.
    stopSignal: 'SIGINT',
  }
}

/**
 * etcd has no passwords here, so it listens on Unix sockets in a folder that only its owner can enter. It requires
 * advertised TCP addresses. With one member, no program uses them.
 */
function etcd({ layout, installation, durable }: ProgramsRequest): ProgramDraft {
  return {
    name: 'etcd',
    command: installation.controlPlane.etcd,
    args: [
      '--name=local',
      '--data-dir=data',
      '--listen-client-urls=unix://client.sock',
      '--advertise-client-urls=http://localhost:2379',
      '--listen-peer-urls=unix://peer.sock',
      '--initial-advertise-peer-urls=http://localhost:2380',
      '--initial-cluster=local=http://localhost:2380',
      '--auto-compaction-retention=1h',
      '--log-level=warn',
      ...(durable ? [] : ['--unsafe-no-fsync']),
    ],
    cwd: layout.etcd,
    ready: { kind: 'socket', path: path.join(layout.etcd, 'client.sock') },
  }
}

function kubeApiserver({ layout, settings, config, installation }: ProgramsRequest): ProgramDraft {
  const credentials = credentialsOf(layout)
  const certificates = certificatesOf(layout)
  const { kubernetes, public: publicPort } = settings.ports
  return {
    name: 'kube-apiserver',
    command: config.kubeApiserver ?? installation.controlPlane['kube-apiserver'],
    args: [
      '--etcd-servers=unix://client.sock',
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${kubernetes}`,
      `--tls-cert-file=${certificates.apiserver}`,
      `--tls-private-key-file=${certificates.apiserverKey}`,
      `--token-auth-file=${credentials.tokens}`,
      '--anonymous-auth=false',
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
      `--service-account-key-file=${credentials.serviceAccountPublicKey}`,
      `--service-cluster-ip-range=${describeSlot(settings.slot).serviceNetwork}.0.0/16`,
      `--service-node-port-range=${publicPort}-${publicPort}`,
      // It rejects loopback addresses as endpoints, also its own.
      '--endpoint-reconciler-type=none',
      '--kubelet-preferred-address-types=InternalIP',
      `--kubelet-certificate-authority=${certificates.authority}`,
      `--kubelet-client-certificate=${certificates.kubeletClient}`,
      `--kubelet-client-key=${certificates.kubeletClientKey}`,
      ...auditFlags(layout, config),
    ],
    cwd: layout.etcd,
    after: ['etcd'],
    ready: {
      kind: 'kubernetes',
      url: `https://127.0.0.1:${kubernetes}/readyz`,
      authority: certificates.authority,
      tokenFile: credentials.adminToken,
    },
  }
}

/** Of the stacks of tests that run at the same time, each has a log. */
function auditFlags({ root }: Layout, { auditLogs }: LocalConfig): string[] {
  if (auditLogs === undefined) return []
  const file = path.join(auditLogs, `${path.basename(root)}.log`)
  return [`--audit-policy-file=${path.join(auditLogs, 'policy.yaml')}`, `--audit-log-path=${file}`]
}

function kubeControllerManager({ layout, installation }: ProgramsRequest): ProgramDraft {
  const credentials = credentialsOf(layout)
  return {
    name: 'kube-controller-manager',
    command: installation.controlPlane['kube-controller-manager'],
    args: [
      `--kubeconfig=${userKubeconfig(layout, 'controllerManager')}`,
      `--service-account-private-key-file=${credentials.serviceAccountKey}`,
      `--root-ca-file=${certificatesOf(layout).authority}`,
      '--use-service-account-credentials',
      '--terminated-pod-gc-threshold=50',
      '--leader-elect=false',
      '--secure-port=0',
    ],
    after: ['kube-apiserver'],
  }
}

function kubeScheduler({ layout, installation }: ProgramsRequest): ProgramDraft {
  return {
    name: 'kube-scheduler',
    command: installation.controlPlane['kube-scheduler'],
    args: [`--kubeconfig=${userKubeconfig(layout, 'scheduler')}`, '--leader-elect=false', '--secure-port=0'],
    after: ['kube-apiserver'],
  }
}

/** The agent stops the pods' processes when it ends. That takes as long as the slowest of them. */
function nodeAgent({ layout, settings, config }: ProgramsRequest): ProgramDraft {
  return {
    name: 'node-agent',
    command: process.execPath,
    args: [path.join(config.repository, 'local', 'node-agent', 'main.ts'), layout.nodeAgent],
    cwd: config.repository,
    after: ['kube-apiserver'],
    ready: { kind: 'port', port: settings.ports.kubelet },
    stopTimeoutMs: 15_000,
  }
}
