import { readFileSync } from 'node:fs'
import path from 'node:path'

export const repository = path.resolve(import.meta.dirname, '../../..')
export const bakeFile = path.join(repository, 'helm/images/bake.json')

/** What `docker buildx bake` reads: the images, their arguments, and the images that they are based on. */
export interface Bake {
  variable: Record<string, { default: string }>
  group: { default: { targets: string[] } }
  target: Record<string, Target>
}

interface Target {
  inherits?: string[]
  dockerfile?: string
  tags?: string[]
  args: Record<string, string>
}

/** One image, with the values of all its arguments. */
export interface Image {
  name: string
  dockerfile: string
  args: Record<string, string>
}

export function readBake(): Bake {
  return JSON.parse(readFileSync(bakeFile, 'utf8')) as Bake
}

export function listImages(bake: Bake): Image[] {
  return bake.group.default.targets.map((name) => describeImage(bake, name))
}

export function describeImage(bake: Bake, name: string): Image {
  const target = bake.target[name]
  if (!target) throw new Error(`${bakeFile} has no image ${name}. It has: ${bake.group.default.targets.join(', ')}.`)
  const inherited = (target.inherits ?? []).map((parent) => bake.target[parent]!)
  const all = [...inherited, target]
  const args = Object.assign({}, ...all.map((each) => each.args)) as Record<string, string>
  const values = Object.entries(args).map(([key, text]) => [key, expand(text, bake)] as const)
  const dockerfile = all.findLast((each) => each.dockerfile !== undefined)?.dockerfile
  if (dockerfile === undefined) throw new Error(`${bakeFile}: ${name} names no Dockerfile`)
  return { name, dockerfile, args: Object.fromEntries(values) }
}

function expand(text: string, { variable }: Bake): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => variable[name]!.default)
}

/** The variables whose value is an image: each has a registry, a tag and perhaps a digest. */
export function listBases({ variable }: Bake): { name: string; reference: string }[] {
  return Object.entries(variable)
    .map(([name, value]) => ({ name, reference: value.default }))
    .filter(({ reference }) => reference.includes('/'))
}
