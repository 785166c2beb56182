import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { digestModules, type programs } from '../preflight/requirements.mjs'

export type Program = (typeof programs)[number]

/** The versions that this repository pins, and a key that changes when one of their modules changes. */
export interface Versions {
  kubernetes: string
  etcd: string
  helm: string
  key: string
}

const modules = { kubernetes: 'k8s.io/kubernetes', etcd: 'go.etcd.io/etcd/server/v3', helm: 'helm.sh/helm/v4' }

/** Reads the pinned versions from `go.mod`. No other file names them. */
export async function readVersions(goFolder: string): Promise<Versions> {
  const [goMod, goSum] = await Promise.all(
    ['go.mod', 'go.sum'].map((name) => readFile(path.join(goFolder, name), 'utf8')),
  )
  return parseVersions(goMod!, goSum!)
}

export function parseVersions(goMod: string, goSum: string): Versions {
  const versionOf = (module: string) => findModuleVersion(goMod, module)
  const kubernetes = versionOf(modules.kubernetes)
  return {
    kubernetes,
    etcd: versionOf(modules.etcd),
    helm: versionOf(modules.helm),
    key: `kubernetes-${kubernetes}-${digestModules(goMod, goSum)}`,
  }
}

/** The version that a go.mod requires of a module. */
export function findModuleVersion(goMod: string, module: string): string {
  const words = goMod.split('\n').map((line) =>
    line
      .replace(/^require /, '')
      .trim()
      .split(/\s+/),
  )
  const found = words.find(([name, version]) => name === module && version?.startsWith('v'))
  if (!found) throw new Error(`go.mod requires no ${module}`)
  return found[1]!
}

/** The minor version of `v1.36.3` or `Kubernetes v1.36.3` is 36. Undefined if the text has no such version. */
export function minorOf(text: string): number | undefined {
  const match = /\bv1\.(\d+)\.\d+/.exec(text)
  return match ? Number(match[1]) : undefined
}
