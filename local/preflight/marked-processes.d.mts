/** Every process of a stack carries this variable with the stack's state folder, pods' processes too. */
export const stackMark: string
/** The running processes that carry a stack's mark, without this one. */
export function listMarkedPids(stateFolder: string): number[]
