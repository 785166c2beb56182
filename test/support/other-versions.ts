import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { versionFlags } from '../../local/install/control-plane-build.ts'
import { findModuleVersion } from '../../local/install/versions.ts'
import { installGoTool } from './go-tool.ts'

/** A program of another version than the one that the stack uses. */
export interface OtherProgram {
  /** Such as v1.33.13. */
  version: string
  file: string
}

/** The kube-apiserver of the oldest minor that the chart takes. */
export async function installOldestKubernetes(): Promise<OtherProgram> {
  const folder = 'oldest-kubernetes'
  const version = await readVersion(folder, 'k8s.io/kubernetes')
  const tool = { program: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver', folder }
  return { version, file: await installGoTool({ ...tool, linkerFlags: versionFlags(version) }) }
}

/** Helm 3. Without a cluster, it takes the version of its Kubernetes client for that of the cluster. */
export async function installHelm3(): Promise<OtherProgram> {
  const folder = 'helm-3'
  const version = await readVersion(folder, 'helm.sh/helm/v3')
  const [, minor] = (await readVersion(folder, 'k8s.io/client-go')).split('.')
  const variables = { k8sVersionMajor: '1', k8sVersionMinor: minor! }
  const linkerFlags = Object.entries(variables).map(
    ([name, value]) => `-X helm.sh/helm/v3/pkg/chartutil.${name}=${value}`,
  )
  const tool = { program: 'helm', package: 'helm.sh/helm/v3/cmd/helm', folder }
  return { version, file: await installGoTool({ ...tool, linkerFlags: linkerFlags.join(' ') }) }
}

async function readVersion(folder: string, module: string): Promise<string> {
  return findModuleVersion(await readFile(path.join(import.meta.dirname, folder, 'go.mod'), 'utf8'), module)
}
