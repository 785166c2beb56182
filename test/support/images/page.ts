import { readFileSync } from 'node:fs'
import path from 'node:path'
import { repository } from './bake.ts'

const page = readFileSync(path.join(repository, 'docs/images.md'), 'utf8')

/** The commands that docs/images.md lists for an image. */
export function listCommands(image: string): string[] {
  return listRows(3)
    .filter(([images, , command]) => images!.includes(`\`${image}\``) && command!.startsWith('`'))
    .map(([, , command]) => trimCode(command!))
}

/** The folders that docs/images.md lists as writable for `control`, or for `engine, trainer`. */
export function listWritable(image: string): string[] {
  return listRows(3)
    .filter(([images, folder]) => trimCode(images!) === image && folder!.startsWith('`/'))
    .map(([, folder]) => trimCode(folder!))
}

function listRows(columns: number): string[][] {
  const rows = page.split('\n').filter((line) => line.startsWith('| '))
  const cells = rows.map((row) => row.slice(2, -2).split(' | '))
  return cells.filter((row) => row.length === columns)
}

function trimCode(text: string): string {
  return text.replaceAll('`', '')
}

/** What the last stage of a Dockerfile says. */
export function readDockerfile(file: string) {
  const text = readFileSync(path.join(repository, file), 'utf8').replaceAll('\\\n', ' ')
  const stage = text.slice(text.lastIndexOf('\nFROM '))
  const find = (instruction: string) => new RegExp(`^${instruction} (.+)$`, 'm').exec(stage)?.[1]
  const copied = [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) => sources!.split(' '))
  return { user: find('USER'), folder: find('WORKDIR'), copied }
}
