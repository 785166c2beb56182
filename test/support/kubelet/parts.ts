import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { versionFlags } from '../../../local/install/control-plane-build.ts'
import { install, type Installation } from '../../../local/install/install.ts'
import { findModuleVersion } from '../../../local/install/versions.ts'
import { Board } from '../../../local/terminal/board.ts'
import { installGoTool } from '../go-tool.ts'
import { makeNodeImages, pythonFolder } from './images.ts'
import { installRuntime, type Runtime } from './runtime.ts'

/** What a node is made of. */
export interface NodeParts {
  installation: Installation
  runtime: Runtime
  programs: NodePrograms
  /** Files of images. */
  archives: readonly string[]
  /** Folders of this machine that every container sees, by the path in the container. */
  shared: Readonly<Record<string, string>>
}

/** The programs of the node that are built with Go. */
export interface NodePrograms {
  kubelet: string
  proxy: string
}

/** Builds kubelet and kube-proxy from the pinned modules, or finds them in the cache. */
async function installNodePrograms(): Promise<NodePrograms> {
  const modules = await readFile(path.join(import.meta.dirname, 'go.mod'), 'utf8')
  const linkerFlags = versionFlags(findModuleVersion(modules, 'k8s.io/kubernetes'))
  const ofKubernetes = (program: string) =>
    installGoTool({ program, package: `k8s.io/kubernetes/cmd/${program}`, folder: 'kubelet', linkerFlags })
  return {
    kubelet: await ofKubernetes('kubelet'),
    proxy: await ofKubernetes('kube-proxy'),
  }
}

/** The variable that names the file of the parts, for the tests. */
const variable = 'TRAINYARD_TEST_NODE_PARTS'

/** Installs and builds what a node is made of. This needs package registries, which the tests do not reach. */
export async function makeNodeParts(): Promise<NodeParts> {
  const installation = await install({
    config: readLocalConfig(),
    board: new Board(),
    signal: new AbortController().signal,
  })
  const [runtime, programs, archives] = await Promise.all([installRuntime(), installNodePrograms(), makeNodeImages()])
  return {
    installation,
    runtime,
    programs,
    archives,
    shared: { [pythonFolder]: path.join(installation.python.binFolder, '..', 'lib') },
  }
}

/** Writes the parts to a file, and returns the environment in which tests find it. */
export async function shareParts(parts: NodeParts, file: string): Promise<NodeJS.ProcessEnv> {
  await writeFile(file, JSON.stringify(parts))
  return { [variable]: file }
}

export async function readParts(): Promise<NodeParts> {
  const file = process.env[variable]
  if (file === undefined) throw new Error('run these tests with `npm test -- kubelet`')
  return JSON.parse(await readFile(file, 'utf8')) as NodeParts
}
