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
 * Makes a folder and tries what is needed in it. Returns undefined when all works, else the path that failed and the
 * system's code.
 */
export function observeFolder(folder, { programs }) {
  // Making folders in one go hides the reason (a read-only disk shows as ENOENT), so the first existing one is asked.
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

/** A Python environment has links to its interpreter. */
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

/** Programs do not start on a disk that is mounted with `noexec`. */
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

/** This folder, or the first one above it that exists. */
export function findExisting(folder) {
  return existsSync(folder) ? folder : findExisting(path.dirname(folder))
}

/** The disk that a folder is on, or will be on. */
export function observeDisk(folder) {
  const existing = findExisting(folder)
  const { bavail, bsize } = statfsSync(existing)
  return { device: statSync(existing).dev, freeGib: (Number(bavail) * Number(bsize)) / 2 ** 30 }
}
