import { nodeAddress, podRange, ports } from './addresses.ts'
import type { Runtime } from './runtime.ts'

const api = (group: string, version: string, kind: string) => ({ apiVersion: `${group}/${version}`, kind })

interface KubeletFiles {
  authority: string
  certificate: string
  key: string
  resolv: string
}

/** The configuration of a kubelet that a container without CAP_SYS_RESOURCE can run, on control groups of version 1. */
export function configureKubelet({ authority, certificate, key, resolv }: KubeletFiles): object {
  return {
    ...api('kubelet.config.k8s.io', 'v1beta1', 'KubeletConfiguration'),
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    protectKernelDefaults: true,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authority },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: certificate,
    tlsPrivateKeyFile: key,
    address: '0.0.0.0',
    port: ports.kubelet,
    healthzBindAddress: '127.0.0.1',
    healthzPort: ports.kubeletHealth,
    resolvConf: resolv,
    clusterDNS: [nodeAddress],
    clusterDomain: 'cluster.local',
    failSwapOn: false,
    // Images come from files: one that is removed cannot be pulled again.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    readOnlyPort: 0,
    oomScoreAdj: 0,
  }
}

export function configureProxy(kubeconfig: string): object {
  return {
    ...api('kubeproxy.config.k8s.io', 'v1alpha1', 'KubeProxyConfiguration'),
    mode: 'nftables',
    clientConnection: { kubeconfig },
    clusterCIDR: podRange,
    // The limits of the machine's connection table are not the namespace's.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    healthzBindAddress: `127.0.0.1:${ports.proxyHealth}`,
    metricsBindAddress: '127.0.0.1:10249',
    oomScoreAdj: 0,
  }
}

/** Every packet of a pod is routed by the node, so that Services work between pods of one node. */
export function configureNetwork(): object {
  const routes = [{ dst: '0.0.0.0/0' }]
  const ipam = { type: 'host-local', dataDir: '/run/cni-ipam', ranges: [[{ subnet: podRange }]], routes }
  return { cniVersion: '1.0.0', name: 'pods', plugins: [{ type: 'ptp', mtu: 1500, ipMasq: false, ipam }] }
}

export const pauseImage = 'localhost/pause:1'

export function configureContainerd({ runc, plugins }: Runtime, files: { network: string; spec: string }): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  return `version = 2
[${cri}]
  sandbox_image = "${pauseImage}"
  # Without CAP_SYS_RESOURCE, nobody may lower the oom_score_adj of a process.
  restrict_oom_score_adj = true
  disable_apparmor = true
[${cri}.cni]
  bin_dir = "${plugins}"
  conf_dir = "${files.network}"
[${cri}.containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  base_runtime_spec = "${files.spec}"
[${cri}.containerd.runtimes.runc.options]
  BinaryName = "${runc}"
  SystemdCgroup = false
`
}

export interface RuntimeSpec {
  process: { rlimits?: object[]; [field: string]: unknown }
  mounts: object[]
  [field: string]: unknown
}

/** A container's specification in which it sees folders of this machine, read-only: what is too large to be copied into images. */
export function shareFolders(
  { process, ...spec }: RuntimeSpec,
  folders: Readonly<Record<string, string>>,
): RuntimeSpec {
  const { rlimits: _, ...rest } = process
  const shared = Object.entries(folders).map(([destination, source]) => ({
    destination,
    type: 'bind',
    source,
    options: ['rbind', 'ro', 'nosuid', 'nodev'],
  }))
  return { ...spec, process: rest, mounts: [...spec.mounts, ...shared] }
}
