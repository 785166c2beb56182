import { mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import path from 'node:path'

const maxBytes = 10 * 2 ** 20

/** Opens a program's log for appending. A log that is too large is renamed first, and replaces the previous one. */
export function openLog(folder: string, name: string): number {
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, `${name}.log`)
  if (sizeOf(file) > maxBytes) renameSync(file, `${file}.1`)
  return openSync(file, 'a')
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
