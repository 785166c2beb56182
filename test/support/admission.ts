import { Admission } from '../../apiserver/accounts/limits/admission.ts'
import { RequestMemory } from '../../apiserver/accounts/limits/request-memory.ts'

/** Creates the permits of a process. Without other memory, it has the default one. */
export function createAdmission(memory = new RequestMemory()): Admission {
  return new Admission(memory, { traceConnections: 8 })
}
