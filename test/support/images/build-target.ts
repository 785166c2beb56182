import path from 'node:path'
import { nameOf, pythonBase } from './base-images.ts'
import { describeImage, readBake, repository } from './bake.ts'
import { buildImage } from './buildah.ts'

interface TargetOptions {
  /** Instead of those of bake.json. */
  args?: Record<string, string>
  /** Keep what each step of the Dockerfile made, for the next build. */
  layers?: boolean
}

/** Builds an image of bake.json by its Dockerfile, on bases that were made on this machine. Returns its name. */
export async function buildTarget(name: string, { args = {}, layers = true }: TargetOptions = {}): Promise<string> {
  const image = describeImage(readBake(), name)
  const local = Object.fromEntries(Object.entries(image.args).map(([key, value]) => [key, nameOf(value)]))
  const base = name === 'control' ? {} : { DEBIAN: pythonBase }
  const tag = `ghcr.io/trainyard/${name}:test`
  const dockerfile = path.join(repository, image.dockerfile)
  await buildImage({ tag, dockerfile, context: repository, args: { ...local, ...base, ...args }, layers })
  return tag
}
