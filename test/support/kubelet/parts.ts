import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readLocalConfig } from '../../../local/config.ts'
import { install } from '../../../local/install/install.ts'
import { Board } from '../../../local/terminal/board.ts'
import { makeNodeImages, pythonFolder } from './images.ts'
import type { NodeParts } from './node-parts.ts'
import { installNodePrograms } from './node-programs.ts'
import { installRuntime } from './runtime.ts'

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
