import { controlPlaneAdvice } from '../preflight/requirements.mjs'
import { buildWithGo, type GoBuild } from './go-build.ts'
import type { Program, Versions } from './versions.ts'

const packages: Record<Program, string> = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  helm: 'helm.sh/helm/v4/cmd/helm',
}

/** Builds programs of the control plane that could not be downloaded. */
export function buildControlPlane(
  wanted: readonly Program[],
  { versions, ...build }: { versions: Versions } & Omit<GoBuild, 'packages' | 'linkerFlags' | 'advice'>,
): Promise<void> {
  return buildWithGo(wanted, {
    ...build,
    packages,
    linkerFlags: `-s -w ${versionFlags(versions.kubernetes)}`,
    advice: controlPlaneAdvice,
  })
}

/** Without these flags the programs report v0.0.0 as their version, and refuse each other. */
export function versionFlags(kubernetes: string): string {
  const [major, minor] = kubernetes.slice(1).split('.')
  const variables = { gitVersion: kubernetes, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' }
  return Object.entries(variables)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ')
}
