import { readFileSync, readdirSync } from 'node:fs'

/**
 * Every process of a stack has this variable, with the stack's state folder as value. So have the processes of its
 * pods.
 */
export const stackMark = 'TRAINYARD_STACK'

/** The running processes of a stack, without this process. */
export function listMarkedPids(stateFolder) {
  const mark = `${stackMark}=${stateFolder}`
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && readEnvironment(pid).includes(mark))
}

function readEnvironment(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    // The process belongs to another user, or it has ended.
    return []
  }
}
