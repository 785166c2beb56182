import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  rmSync,
  statSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { runProgram } from './programs.mjs'

/**
 * Creates a folder and tests what it is needed for. Returns undefined when all works, else the path that failed and the
 * system's error code.
 */
export function observeFolder(folder, { programs }) {
  // Creating all folders at once hides the reason: a read-only disk shows as ENOENT. So the first existing folder is
  // tested before.
  const error = tryOn(findExisting(folder), checkWritable) ?? tryOn(folder, makeFolder) ?? tryOn(folder, checkWritable)
  return error ?? (programs ? (tryOn(folder, checkLinks) ?? tryOn(folder, checkExecution)) : undefined)
}

function tryOn(folder, check) {
  try {
    check(folder)
    return undefined
  } catch (error) {
    return { path: folder, code: error.code ?? error.message }
  }
}

function checkWritable(folder) {
  accessSync(folder, constants.W_OK | constants.X_OK)
}

function makeFolder(folder) {
  mkdirSync(folder, { recursive: true })
}

/** A Python environment contains links to its interpreter. */
function checkLinks(folder) {
  const link = path.join(folder, `preflight-${process.pid}.link`)
  try {
    symlinkSync('target', link)
  } catch (error) {
    throw Object.assign(new Error(error.message), { code: error.code === 'EPERM' ? 'NOLINKS' : error.code })
  } finally {
    rmSync(link, { force: true })
  }
}

/** Programs do not start from a disk that is mounted with `noexec`. */
function checkExecution(folder) {
  const script = path.join(folder, `preflight-${process.pid}.sh`)
  try {
    writeFileSync(script, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    const { errorCode } = runProgram(script, [])
    if (errorCode === 'EACCES') throw Object.assign(new Error('noexec'), { code: 'NOEXEC' })
  } finally {
    rmSync(script, { force: true })
  }
}

/** Returns this folder, or its nearest existing parent. */
export function findExisting(folder) {
  return existsSync(folder) ? folder : findExisting(path.dirname(folder))
}

/** Observes the disk of a folder, which may not exist yet. */
export function observeDisk(folder) {
  const existing = findExisting(folder)
  const { bavail, bsize } = statfsSync(existing)
  return { device: statSync(existing).dev, freeGib: (bavail * bsize) / 2 ** 30 }
}
