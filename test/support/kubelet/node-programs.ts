import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { versionFlags } from '../../../local/install/control-plane-build.ts'
import { findModuleVersion } from '../../../local/install/versions.ts'
import { installGoTool } from '../go-tool.ts'

/** The programs of the node that are built with Go. */
export interface NodePrograms {
  kubelet: string
  proxy: string
}

/** Builds kubelet and kube-proxy from the pinned modules, or finds them in the cache. */
export async function installNodePrograms(): Promise<NodePrograms> {
  const modules = await readFile(path.join(import.meta.dirname, 'go.mod'), 'utf8')
  const linkerFlags = versionFlags(findModuleVersion(modules, 'k8s.io/kubernetes'))
  const ofKubernetes = (program: string) =>
    installGoTool({ program, package: `k8s.io/kubernetes/cmd/${program}`, folder: 'kubelet', linkerFlags })
  return {
    kubelet: await ofKubernetes('kubelet'),
    proxy: await ofKubernetes('kube-proxy'),
  }
}
