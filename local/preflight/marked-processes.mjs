import { readFileSync, readdirSync } from 'node:fs'

/** Every process of a stack carries this variable with the stack's state folder, pods' processes too. */
export const stackMark = 'TRAINYARD_STACK'

/** The running processes that carry a stack's mark, without this one. */
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
    // Somebody else's process, or one that ended meanwhile.
    return []
  }
}
